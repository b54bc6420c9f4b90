package language

import (
	"io/fs"
	"strings"
	"testing"
)

func TestPrimary(t *testing.T) {
	for _, test := range []struct{ tag, want string }{
		{"en", "en"},
		{"en-US", "en"},
		{"EN_us", "en"},
		{" zh-Hant-TW ", "zh"},
		{"de, en", "de"}, // the meta element content-language may list several
		{"eng", "en"},
		{"gsw-CH", "gsw"},
		{"", ""},
		{"x-default", ""},
		{"english", ""},
		{"und", ""},
		{"{{lang}}", ""},
	} {
		if got := Primary(test.tag); got != test.want {
			t.Errorf("Primary(%q) = %q, want %q", test.tag, got, test.want)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		want, text string
	}{
		{"en", "The cat sat on the mat and looked at the dog that was in the garden with all of the other animals."},
		{"ru", "Кошка сидела на окне и смотрела на собаку, которая была в саду, и это было не так уж далеко от того места, где он жил."},
		{"uk", "Кішка сиділа на вікні і дивилася на собаку, яка була в саду, це було не так далеко від того місця, де він жив, але вже пізно."},
		{"bg", "Котката седеше на прозореца и гледаше кучето, което беше в градината, но това не е далеч от мястото, където той ще бъде след един час."},
		{"es", "El gato estaba sentado en la ventana y miraba al perro que estaba en el jardín con los otros animales de la casa, pero no se movía."},
		{"pt", "O gato estava sentado na janela e olhava para o cão que estava no jardim com os outros animais da casa, mas não se mexia, e era muito tarde."},
		{"de", "Die Katze saß auf dem Fenster und sah den Hund an, der mit den anderen Tieren im Garten war, aber sie hat sich nicht bewegt, denn es war spät."},
		{"fr", "Le chat était assis sur la fenêtre et regardait le chien qui était dans le jardin avec les autres animaux de la maison, mais il ne bougeait pas."},
		{"it", "Il gatto era seduto sulla finestra e guardava il cane che era nel giardino con gli altri animali della casa, ma non si è mosso, perché era tardi."},
		{"nl", "De kat zat op het raam en keek naar de hond die in de tuin was met de andere dieren van het huis, maar hij heeft zich niet bewogen, want het was laat."},
		{"pl", "Kot siedział na oknie i patrzył na psa, który był w ogrodzie z innymi zwierzętami, ale nie ruszał się, bo już było bardzo późno i nie wiedział, czy to jest tak."},
		{"sv", "Katten satt på fönstret och såg på hunden som var i trädgården med de andra djuren, men den rörde sig inte, för det var mycket sent och han hade inte sett det."},
		{"ja", "猫は窓に座って、庭にいる犬を見ていました。"},
		{"zh", "猫坐在窗台上看着花园里的狗。"},
		{"ko", "고양이는 창가에 앉아 정원에 있는 개를 보고 있었다."},
		{"el", "Η γάτα κάθισε στο παράθυρο και κοίταζε τον σκύλο."},
		{"he", "החתול ישב על החלון והסתכל על הכלב שבגינה."},
		{"ar", "جلست القطة على النافذة ونظرت إلى الكلب في الحديقة."},
		{"fa", "گربه پشت پنجره نشسته بود و به سگی که در باغ بود نگاه می\u200cکرد."},
		{"th", "แมวนั่งอยู่บนหน้าต่างและมองดูสุนัขในสวน"},
		{"hi", "बिल्ली खिड़की पर बैठी थी और बगीचे में कुत्ते को देख रही थी।"},
	} {
		if got, sure := Detect(test.text); got != test.want || !sure {
			t.Errorf("Detect(%q) = %q, %v, want %q, sure", test.text, got, sure, test.want)
		}
	}
}

// Detect must not be sure of a text without enough evidence, because a sure but wrong result would
// override a correct declaration.
func TestDetectUnsure(t *testing.T) {
	for _, text := range []string{
		"",
		"12 345 -- 67",
		"Home",
		"Home About Contact Products Services",
		strings.Repeat("Acme Widget Gadget Sprocket ", 20),
		"Kötturinn sat á glugganum og horfði á hundinn sem var í garðinum með hinum dýrunum, en hann hreyfði sig ekki því að það var orðið áliðið.", // Icelandic, for which there is no word list
	} {
		if got, sure := Detect(text); sure {
			t.Errorf("Detect(%q) = %q, sure", text, got)
		}
	}
}

func TestWordLists(t *testing.T) {
	if names, err := fs.Glob(files, "words/*.txt"); err != nil || len(names) != len(languages) {
		t.Errorf("%d lists for %d languages, %v", len(names), len(languages), err)
	}
	for _, lang := range languages {
		words := listed("words/" + lang + ".txt")
		if len(words) < 30 {
			t.Errorf("%s: only %d words", lang, len(words))
		}
		for word := range words {
			if word != strings.ToLower(word) || len(word) > longest || strings.ContainsAny(word, ".,()#") {
				t.Errorf("%s: %q is no word to look up", lang, word)
			}
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	text := strings.Repeat("The cat sat on the mat and looked at the dog that was in the garden. ", 150)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Detect(text)
	}
}

// TestDetects checks that the languages that a script alone identifies count as languages that can be detected.
func TestDetects(t *testing.T) {
	for _, s := range ownScript {
		if !Detects(s.lang) {
			t.Errorf("%s cannot be detected", s.lang)
		}
	}
	for lang, want := range map[string]bool{"en": true, "ja": true, "ko": true, "sk": false, "nb": false, "": false} {
		if Detects(lang) != want {
			t.Errorf("%q: %v, want %v", lang, !want, want)
		}
	}
}

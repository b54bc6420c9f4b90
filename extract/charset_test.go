package extract

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// These texts are in languages of old pages, and long enough to guess their encoding.
const (
	russian = "Сцинк — ящерица с гладкой чешуёй, которая движется в песке так же легко, как рыба в воде. Днём она прячется под камнями, а ночью выходит на охоту за насекомыми. Если схватить её за хвост, он отпадает и ещё долго шевелится."
	nihongo = "トカゲは滑らかな鱗を持ち、砂の中を魚のように動きます。昼は石の下に隠れ、夜になると虫を探しに出かけます。尾をつかまれると切り離して逃げることができます。"
	chinese = "石龙子是一种蜥蜴，身体光滑，鳞片像瓦一样重叠，在沙中行动如同鱼在水中游动。白天藏在石头下面，晚上出来捕食昆虫。尾巴被抓住时会断开并继续摆动，使它有时间逃走。"
	taiwan  = "石龍子是一種蜥蜴，身體光滑，鱗片像瓦一樣重疊，在沙中行動如同魚在水中游動。白天藏在石頭下面，晚上出來捕食昆蟲。尾巴被抓住時會斷開並繼續擺動，使牠有時間逃走。"
	hangul  = "도마뱀은 매끄러운 비늘을 가지고 있으며 모래 속을 물고기처럼 움직인다. 낮에는 돌 밑에 숨고 밤이 되면 벌레를 잡으러 나온다. 꼬리를 잡히면 끊고 달아난다."
	french  = "Le scinque est un lézard à la peau lisse, couverte d'écailles, qui se déplace dans le sable comme un poisson dans l'eau. Le jour, il se cache sous les pierres ; la nuit, il chasse. Sa queue, tombée, repousse après quelques mois, plus courte et d'une autre couleur."
	polish  = "Scynk to jaszczurka o gładkiej skórze, która porusza się w piasku jak ryba w wodzie. W dzień chowa się pod kamieniami, a nocą łowi owady. Złapana za ogon, odrzuca go i ucieka; później ogon odrasta, krótszy i o innej barwie niż był."
	czech   = "Scink je ještěrka s hladkou kůží, která se v písku pohybuje jako ryba ve vodě. Ve dne se skrývá pod kameny a v noci loví hmyz; chycena za ocas jej odhodí a uteče, později jí doroste kratší a jinak zbarvený."
	magyar  = "A szkink sima bőrű gyík, amely úgy mozog a homokban, mint hal a vízben. Nappal kövek alatt rejtőzik, éjjel rovarokra vadászik; ha a farkánál fogják meg, eldobja és elmenekül, később rövidebb és más színű nő helyette."
	romana  = "Scincul este o şopârlă cu pielea netedă, care se mişcă prin nisip ca peştele în apă. Ziua stă ascuns sub pietre, iar noaptea vânează insecte; prins de coadă, o lasă şi fuge, iar mai târziu îi creşte alta, mai scurtă."
	greek   = "Ο σκίγκος είναι μια σαύρα με λείο δέρμα, που κινείται μέσα στην άμμο όπως το ψάρι μέσα στο νερό. Την ημέρα κρύβεται κάτω από τις πέτρες και τη νύχτα κυνηγάει έντομα."
)

func TestCharset(t *testing.T) {
	utf16le := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	utf16be := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	long := "<!--" + strings.Repeat("a long comment ", 200) + "-->"
	for _, test := range []struct {
		name        string
		in          encoding.Encoding // nil means UTF-8
		head        string            // written before the text, in the same encoding
		contentType string
		text, want  string
	}{
		{"header", charmap.Windows1251, "", "text/html; charset=windows-1251", russian, "windows-1251"},
		{"header in quotes", charmap.KOI8R, "", `text/html; charset="KOI8-R"`, russian, "koi8-r"},
		{"malformed header", charmap.KOI8R, "", `text/html; charset=koi8-r; =`, russian, "koi8-r"},
		{"header before meta", charmap.Windows1251, "<meta charset=utf-8>", "text/html; charset=cp1251", russian, "windows-1251"},
		{"unknown label, meta", charmap.Windows1251, "<meta charset=windows-1251>", "text/html; charset=none", russian, "windows-1251"},
		{"meta", charmap.Windows1251, "<meta charset='windows-1251'>", "text/html", russian, "windows-1251"},
		{"meta after 1,024 bytes", charmap.Windows1251, long + "<meta charset=windows-1251>", "text/html", russian, "windows-1251"},
		{"http-equiv", japanese.ShiftJIS, `<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">`, "", nihongo, "shift_jis"},
		{"content without http-equiv", nil, `<meta name=x content="text/html; charset=windows-1251">`, "", russian, "utf-8"},
		{"meta in a comment", nil, "<!-- <meta charset=windows-1251> -->", "", russian, "utf-8"},
		{"latin1 is windows-1252", charmap.Windows1252, "<meta charset=iso-8859-1>", "", french, "windows-1252"},
		{"XML declaration", charmap.ISO8859_2, `<?xml version="1.0" encoding="ISO-8859-2"?>`, "application/xhtml+xml", polish, "iso-8859-2"},
		{"mark before header", nil, "\ufeff", "text/html; charset=windows-1251", russian, "utf-8"},
		{"UTF-16 with mark", utf16le, "\ufeff", "text/html", russian, "utf-16le"},
		{"UTF-16BE with mark", utf16be, "\ufeff", "", russian, "utf-16be"},
		{"UTF-16 by header", utf16le, "", "text/html; charset=utf-16", russian, "utf-16le"},
		{"UTF-16BE by header", utf16be, "", "text/html; charset=utf-16be", russian, "utf-16be"},
		{"UTF-16 by its first tag", utf16le, "", "", russian, "utf-16le"},
		{"UTF-16 in a meta that could be read", nil, "<meta charset=utf-16>", "", russian, "utf-8"},
		{"UTF-8 undeclared", nil, "", "", french, "utf-8"},
		{"ASCII", nil, "", "", "plain words", "utf-8"},

		{"UTF-8 declared as something else", nil, "<meta charset=windows-1251>", "text/html; charset=iso-8859-1", russian, "utf-8"},
		{"wrong UTF-8", charmap.Windows1251, "<meta charset=utf-8>", "text/html; charset=utf-8", russian, "windows-1251"},
		{"guess Russian", charmap.Windows1251, "", "", russian, "windows-1251"},
		{"guess KOI8", charmap.KOI8R, "", "", russian, "koi8-r"},
		{"guess Japanese", japanese.ShiftJIS, "", "", nihongo, "shift_jis"},
		{"guess EUC-JP", japanese.EUCJP, "", "", nihongo, "euc-jp"},
		{"guess Chinese", simplifiedchinese.GBK, "", "", chinese, "gb18030"},
		{"guess Big5", traditionalchinese.Big5, "", "", taiwan, "big5"},
		{"guess Korean", korean.EUCKR, "", "", hangul, "euc-kr"},
		{"guess French", charmap.Windows1252, "", "", french, "windows-1252"},
		{"guess Polish", charmap.ISO8859_2, "", "", polish, "iso-8859-2"},
		{"guess Polish of Windows", charmap.Windows1250, "", "", polish, "windows-1250"},
		{"guess Czech of Windows", charmap.Windows1250, "", "", czech, "windows-1250"},
		{"guess Hungarian", charmap.ISO8859_2, "", "", magyar, "iso-8859-2"},
		{"guess Romanian", charmap.ISO8859_2, "", "", romana, "iso-8859-2"},
		{"guess Greek", charmap.ISO8859_7, "", "", greek, "iso-8859-7"},
		{"nothing to guess by", charmap.Windows1252, "", "", "caf\u00e9", "windows-1252"},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := test.head + "<html><head><title>t</title><script>var english = 'only tags';</script></head><body><main><p>" + test.text
			if strings.HasPrefix(test.name, "UTF-16 by its") {
				page = "<html><p>" + test.text
			}
			body := []byte(page)
			if test.in != nil {
				var err error
				if body, err = encoding.ReplaceUnsupported(test.in.NewEncoder()).Bytes(body); err != nil {
					t.Fatal(err)
				}
			}
			d, err := Parse(body, test.contentType)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("\u2014 ", "", "\x1a ", "").Replace(test.text) // ISO 8859 has no dash, so ignore it
			got := strings.NewReplacer("\u2014 ", "", "\x1a ", "").Replace(d.Text)
			if d.Charset != test.want || got != want {
				t.Errorf("got %s: %q\nwant %s: %q", d.Charset, got, test.want, want)
			}
		})
	}
}

// A few broken bytes in a UTF-8 text are accidents, and must not change the detected encoding.
func TestDamagedUTF8(t *testing.T) {
	for _, contentType := range []string{"text/html", "text/html; charset=utf-8"} {
		testDamaged(t, contentType)
	}
}

func testDamaged(t *testing.T, contentType string) {
	t.Helper()
	for _, body := range []string{
		"<p>" + russian + "\xd1",                           // the last character is cut off
		"<p>" + russian + " \xff\xfe " + russian,           // bytes that are not valid windows-1251 text
		"<meta charset=utf-8><p>plain with one \xe9 in it", // may also be decoded as windows-1252
	} {
		d, err := Parse([]byte(body), contentType)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(body, "Сцинк") && (d.Charset != "utf-8" || !strings.HasPrefix(d.Text, "Сцинк")) {
			t.Errorf("%s: %q", d.Charset, d.Text)
		}
		checkText(t, d.Text)
	}
}

package crawler

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"skink/crawler/access"
)

// The expected values are those that a browser sends if the fields u and p are filled in, and the
// button next to them is pressed.
func TestFindForm(t *testing.T) {
	const up = `<input name=u><input name=p type=password>`
	for _, tt := range []struct{ name, page, want string }{
		{"controls outside the form", `<form id=f action=/in method=post></form><p><input form=f name=u><input form=f name=p><input form=f name=t value=1><input name=x value=2><button form=f name=b value=3>`, "POST /in b=3&p=P&t=1&u=U"},
		{"a control of another form", `<form id=f action=/in>` + up + `<input form=g name=x value=1></form><form id=g></form>`, "GET /in p=P&u=U"},
		{"an id that is not a form's", `<p id=f><form action=/in>` + up + `<input form=f name=x value=1></form>`, "GET /in p=P&u=U"},
		{"between rows", `<table><form action=/in method=post><tr><td>` + up + `<tr><td><input type=hidden name=t value=1></table><input name=x value=2>`, "POST /in p=P&t=1&u=U"},
		{"in a row", `<table><tr><form action=/in method=post><td><input name=u><td><input name=p><td><table><tr><td><input name=t value=1></table></tr></table>`, "POST /in p=P&u=U"},
		{"lists", `<form action=/in>` + up + `<select name=s><option disabled value=0><option>One  more<option value=2></select><select name=m multiple><option selected>a<option><option selected>c</select><select name=e></select><select name=n multiple><option>x</select>`, "GET /in m=a&m=c&p=P&s=One+more&u=U"},
		{"text", `<form action=/in>` + up + "<textarea name=t>\n two\nlines</textarea>", "GET /in p=P&t=+two%0D%0Alines&u=U"},
		{"boxes", `<form action=/in>` + up + `<input type=checkbox name=c checked><input type=checkbox name=d><input type=radio name=r value=1><input type=radio name=r value=2 checked>`, "GET /in c=on&p=P&r=2&u=U"},
		{"disabled", `<form action=/in>` + up + `<input name=x disabled><fieldset disabled><input name=y></fieldset><button name=b disabled>No</button><button name=c value=1>Yes</button>`, "GET /in c=1&p=P&u=U"},
		{"the button after the fields", `<form action=/in><button name=search value=1></button>` + up + `<button type=button name=show></button><input type=submit name=in value=2><input type=submit name=other value=3>`, "GET /in in=2&p=P&u=U"},
		{"no button after the fields", `<form action=/in><button name=in value=1></button>` + up + `<input type=reset name=no>`, "GET /in in=1&p=P&u=U"},
		{"what a button changes", `<form action=/search>` + up + `<button formaction=/in formmethod=POST formenctype=multipart/form-data name=b value=1></button>`, "POST parts /in b=1&p=P&u=U"},
		{"a picture as a button", `<form action=/in>` + up + `<input type=image name=i src=i.png>`, "GET /in i.x=0&i.y=0&p=P&u=U"},
		{"a picture without a name", `<form action=/in>` + up + `<input type=image src=i.png>`, "GET /in p=P&u=U&x=0&y=0"},
		{"multipart", `<form action=/in method=post enctype=MULTIPART/FORM-DATA>` + up, "POST parts /in p=P&u=U"},
		{"a base", `<base href=/api/><form action=in>` + up, "GET /api/in p=P&u=U"},
		{"a group of options that is disabled", `<form action=/in>` + up + `<select name=s><optgroup disabled><option>a</optgroup><option>b</select>`, "GET /in p=P&s=b&u=U"},
		{"a group around a disabled group", `<form action=/in>` + up + `<fieldset disabled><fieldset><input name=x></fieldset></fieldset>`, "GET /in p=P&u=U"},
		{"a choice that is asked for", `<form action=/in>` + up + `<select name=s><option selected disabled value="">Choose<option>b</select>`, "GET /in p=P&u=U"},
		{"controls in a list of suggestions", `<form action=/in>` + up + `<datalist><input name=x value=1></datalist>`, "GET /in p=P&u=U"},
		{"the encoding", `<form action=/in>` + up + `<input type=hidden name=_charset_ value=x>`, "GET /in _charset_=UTF-8&p=P&u=U"},
		{"a file that nobody chose", `<form action=/in>` + up + `<input type=file name=f>`, "GET /in f=&p=P&u=U"},
		{"boxes that nobody chose", `<form action=/in>` + up + `<input type=radio name=r value=1><input type=radio name=r value=2><input type=checkbox name=c value=3>`, "GET /in p=P&u=U"},
		{"a button outside the form", `<form id=f action=/in>` + up + `</form><input type=submit form=f name=b value=1 formaction=/b>`, "GET /b b=1&p=P&u=U"},
		{"the second form", `<form action=/no><input name=u></form><form action=/in>` + up, "GET /in p=P&u=U"},
	} {
		f, err := findForm([]byte(tt.page), map[string]access.Secret{"u": "U", "p": "P"})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		method := "GET "
		if f.post {
			method = "POST "
		}
		if f.parts {
			method += "parts "
		}
		if got := method + f.base + f.action + " " + f.values.Encode(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The settings can name the button to press.
func TestNamedButton(t *testing.T) {
	const page = `<form action=/in><input name=u><button name=a value=1></button><button name=b value=2 formaction=/b></button></form>`
	f, err := findForm([]byte(page), map[string]access.Secret{"u": "U", "b": "2"})
	if err != nil || f.values.Encode() != "b=2&u=U" || f.action != "/b" {
		t.Errorf("%+v, %v", f, err)
	}
}

// The two encodings of a form have the same values.
func TestFormEncodings(t *testing.T) {
	values := url.Values{"a": {"1", "ä \"2\""}, "b c": {""}}
	body, header := (&form{values: values, parts: true}).encoded()
	_, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	read, err := multipart.NewReader(strings.NewReader(body), params["boundary"]).ReadForm(1 << 10)
	if err != nil || url.Values(read.Value).Encode() != values.Encode() {
		t.Errorf("%v, %v", read, err)
	}
}

// A login that begins on one host and ends on another works if both match the section. Neither its
// fields nor its cookies get to a host that does not.
func TestLoginAcrossHosts(t *testing.T) {
	for _, tt := range []struct{ name, pattern, service, problem string }{
		{"both match", "*.sso.localhost", "www.sso.localhost", ""},
		{"the site does not match", "id.sso.localhost", "www.sso.localhost", "302 Found at http://id.sso.localhost"},
		{"a name that only ends alike", "*.sso.localhost", "www.notsso.localhost", "302 Found at http://id.sso.localhost"},
	} {
		var port string
		host := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			name, _, _ := net.SplitHostPort(r.Host)
			w.Header().Set("Content-Type", "text/html")
			ours := access.Matches(tt.pattern, name)
			if !ours && (bytes.Contains(body, []byte("secret")) || r.Header.Get("Cookie") != "" || r.URL.Query().Has("ticket")) {
				t.Errorf("%s: %s gets %s %q %q", tt.name, r.Host, r.URL, body, r.Header.Get("Cookie"))
			}
			switch {
			case r.URL.Path == "/robots.txt":
				http.NotFound(w, r)
			case name == "id.sso.localhost" && r.Method == http.MethodGet:
				fmt.Fprint(w, `<form method=post><input name=user><input name=password><input type=hidden name=lt value=LT-1></form>`)
			case name == "id.sso.localhost" && string(body) == "lt=LT-1&password=secret&user=me":
				http.SetCookie(w, &http.Cookie{Name: "tgc", Value: "1"})
				http.Redirect(w, r, "http://"+tt.service+":"+port+"/?ticket=ST-1", http.StatusFound)
			case r.URL.Query().Get("ticket") == "ST-1":
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: "1"})
				http.Redirect(w, r, "/", http.StatusFound)
			case hasCookie(r, "sid", "1"):
				fmt.Fprint(w, "Log out")
			}
		})
		_, port, _ = net.SplitHostPort(host)
		at := func(name string) string { return "http://" + name + ":" + port + "/" }
		f := testFetcher(t, func(o *Options) {
			o.Hosts = access.Table{{Pattern: tt.pattern, Login: &access.Login{Page: at("id.sso.localhost"), Check: "Log out", Fields: map[string]access.Secret{"user": "me", "password": "secret"}}}}
		}, "id.sso.localhost:"+port, tt.service+":"+port)
		from := tt.service
		if !access.Matches(tt.pattern, from) {
			from = "id.sso.localhost"
		}
		page := f.fetchAs(t.Context(), item(at(from)+"page"))
		if tt.problem == "" && (page.Problem != "" || string(page.Body) != "Log out") || !strings.Contains(page.Detail, tt.problem) {
			t.Errorf("%s: %q %s %q", tt.name, page.Problem, page.Detail, page.Body)
		}
	}
}

package warc

import "testing"

// The queries are those that warcio.js 2.4.11 makes of the same bodies (its function postToGetUrl).
func TestPostQuery(t *testing.T) {
	for _, c := range []struct{ kind, body, want string }{
		{"application/json", "{\"b\":1,\"a\":[1,2,\"x\"],\"c\":{\"a\":3,\"d\":null,\"e\":true,\"f\":false,\"g\":0,\"h\":\"\"}}", "b=1&a=1&a.2_=2&a.3_=x&a.4_=3&d=null&e=true&f=false&g=0"},
		{"application/json; charset=utf-8", "{\"query\":\"query { page(id: 7) { text } }\",\"variables\":{\"q\":\"é ~*&=\"}}", "query=query+%7B+page%28id%3A+7%29+%7B+text+%7D+%7D&q=%C3%A9+%7E*%26%3D"},
		{"application/json", "[1.50, 1e21, 1e-7, -0, 12345678901234567890]", "=1.5&.2_=1e%2B21&.3_=1e-7&.4_=0&.5_=12345678901234567000"},
		{"application/json", "\"only text\"", "=only+text"},
		{"application/json", "not json", ""},
		{"application/json", "{\"a\":1} rest", ""},
		{"application/json", "", ""},
		{"text/plain;charset=UTF-8", "{\"a\":\"b\"}", "a=b"},
		{"text/plain", "just words", ""},
		{"application/x-www-form-urlencoded", "a=1&b=two+words&c=%C3%A9", "a=1&b=two+words&c=%C3%A9"},
		{"multipart/form-data; boundary=--x1", "----x1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1 é\r\n----x1\r\nContent-Disposition: form-data; name=\"f\"; filename=\"t.txt\"\r\nContent-Type: text/plain\r\n\r\nfile\r\n----x1\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\nline 1\r\nline 2\r\n----x1--\r\n", "a=1+%C3%A9&b=line+1"},
		{"application/octet-stream", "\u0001bytes", "__wb_post_data=AWJ5dGVz"},
		{"", "no type", "__wb_post_data=bm8gdHlwZQ=="},
	} {
		if got := postQuery(c.kind, []byte(c.body)); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.kind, c.body, got, c.want)
		}
	}
}

package frontier

import "testing"

func TestHostOf(t *testing.T) {
	tests := []struct{ url, want string }{
		{"http://example.com/", "example.com"},
		{"https://example.com/a?b", "example.com"},
		{"http://example.com:8080/", "example.com:8080"},
		{"https://example.com:80/", "example.com:80"},
		{"http://127.0.0.1:8080/a", "127.0.0.1:8080"},
		{"http://[::1]/a:b", "[::1]"},
		{"http://[::1]:8080/?http://example.org/", "[::1]:8080"},
		{"http://example.com./", "example.com."},
		{"no URL", ""},
	}
	for _, tt := range tests {
		if got := HostOf(tt.url); got != tt.want {
			t.Errorf("HostOf(%q) = %q, want %q", tt.url, got, tt.want)
		}
	}
}

func TestDomain(t *testing.T) {
	tests := []struct{ name, host, want string }{
		{"itself", "example.com", "example.com"},
		{"subdomains", "a.b.example.com", "example.com"},
		{"suffix of two labels", "www.example.co.uk", "example.co.uk"},
		{"port", "www.example.com:8080", "example.com"},
		{"trailing dot", "www.example.com.", "example.com"},
		{"trailing dot and port", "www.example.com.:81", "example.com"},
		{"wildcard rule *.ck", "a.b.shop.ck", "b.shop.ck"},
		{"its exception !www.ck", "a.www.ck", "www.ck"},
		{"private suffix", "a.b.github.io", "b.github.io"},
		{"a suffix is its own", "co.uk", "co.uk"},
		{"punycode", "www.xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"top-level domain nobody listed", "a.b.internal", "b.internal"},
		{"folders served on loopback", "docs.localhost", "docs.localhost"},
		{"single label", "localhost", "localhost"},
		{"single label and port", "localhost:8080", "localhost"},
		{"IPv4", "192.0.2.1", "192.0.2.1"},
		{"IPv4 and port", "192.0.2.1:8080", "192.0.2.1"},
		{"IPv6", "[2001:db8::1]", "[2001:db8::1]"},
		{"IPv6 and port", "[2001:db8::1]:8080", "[2001:db8::1]"},
		{"empty label", "a..com", "a..com"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Domain(tt.host); got != tt.want {
				t.Errorf("Domain(%q) = %q, want %q", tt.host, got, tt.want)
			}
		})
	}
}

func BenchmarkDomain(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Domain("www.example.co.uk:8080")
	}
}

func TestOrigin(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://example.com/a/b?c", "https://example.com"},
		{"http://example.com/", "http://example.com"},
		{"http://example.com:8080/", "http://example.com:8080"},
		{"http://[::1]:8080?x=http://y/", "http://[::1]:8080"},
	}
	for _, tt := range tests {
		if got := Origin(tt.url); got != tt.want {
			t.Errorf("origin of %q = %q, want %q", tt.url, got, tt.want)
		}
	}
}

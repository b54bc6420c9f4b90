package postgrestest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// StartTLS starts a server that offers TLS. cert is the file with its self-signed certificate.
func StartTLS(tb testing.TB) (s *Server, cert string) {
	tb.Helper()
	s, err := prepare(tb, nil)
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "skink-tls-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	if err := certify(s.Addr, cert, key); err != nil {
		tb.Fatal(err)
	}
	for _, path := range []string{dir, cert, key} {
		if err := give(path); err != nil {
			tb.Skipf("PostgreSQL refuses to run as root, and %v", err)
		}
	}
	s.settings = []string{"ssl=on", "ssl_cert_file=" + cert, "ssl_key_file=" + key}
	if err := s.create(); err != nil {
		tb.Fatal(err)
	}
	return s, cert
}

func certify(addr, certFile, keyFile string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(host)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

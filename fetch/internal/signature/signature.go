// Package signature verifies signatures by cosign: Sigstore's bundles
// (https://docs.sigstore.dev/about/bundle/) that are made with a key.
//
// Sigstore's own library is not used: of its work (certificates, transparency logs, trusted
// roots that are fetched) a signature with a key needs nothing.
package signature

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Key is a public key that guests are signed with.
type Key struct {
	name   string
	public *ecdsa.PublicKey
}

// maxKey is more than the file of a key has, in bytes.
const maxKey = 64 << 10

// ReadKeys reads keys as `cosign generate-key-pair` writes them: each is a file, or its text. An
// error quotes nothing of a file.
func ReadKeys(keys []string) (all []Key, err error) {
	for i, key := range keys {
		one := Key{name: key}
		text := []byte(key)
		if strings.HasPrefix(strings.TrimSpace(key), "-----BEGIN") {
			one.name = fmt.Sprintf("number %d of verify.keys", i+1)
		} else if text, err = readFile(key); err != nil {
			return nil, err
		}
		if one.public, err = parse(text); err != nil {
			return nil, fmt.Errorf("the key %s: %w", one.name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxKey:
		return nil, fmt.Errorf("the key %s: not a file of a key", path)
	}
	return os.ReadFile(path)
}

func parse(text []byte) (*ecdsa.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("not a public key in PEM; cosign public-key writes one")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, errors.New("not a public key")
	}
	public, ok := key.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return nil, errors.New("not an ECDSA key of the curve P-256, as cosign's are")
	}
	return public, nil
}

// bundle is what is read of a bundle: a signature of bytes (cosign sign-blob), or of a
// statement about a digest (cosign sign).
type bundle struct {
	Message *struct {
		Signature []byte `json:"signature"`
	} `json:"messageSignature"`
	Envelope *struct {
		Payload    []byte `json:"payload"`
		Type       string `json:"payloadType"`
		Signatures []struct {
			Signature []byte `json:"sig"`
		} `json:"signatures"`
	} `json:"dsseEnvelope"`
}

// statement is what is read of an in-toto statement.
type statement struct {
	Predicate string `json:"predicateType"`
	Subject   []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
}

const (
	statementType = "application/vnd.in-toto+json"
	// predicateSign is cosign's for "signed", which its attestations do not have.
	predicateSign = "https://sigstore.dev/cosign/sign/v1"
)

// Verify returns nil if a bundle has a signature of the digest, a SHA-256, by one of the keys. An
// error quotes nothing of the bundle.
func Verify(raw []byte, digest [sha256.Size]byte, keys []Key) error {
	var b bundle
	if err := json.Unmarshal(raw, &b); err != nil {
		return errors.New("its signature is not a bundle, as cosign writes it since version 3")
	}
	switch {
	case b.Message != nil:
		return by(keys, digest, b.Message.Signature)
	case b.Envelope != nil && b.Envelope.Type == statementType && len(b.Envelope.Signatures) == 1:
		signed := sha256.Sum256(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(b.Envelope.Type), b.Envelope.Type, len(b.Envelope.Payload), b.Envelope.Payload))
		if err := by(keys, signed, b.Envelope.Signatures[0].Signature); err != nil {
			return err
		}
		return about(b.Envelope.Payload, digest)
	}
	return errors.New("its signature is not a bundle with one signature, as cosign writes it")
}

// by returns nil if one of the keys has signed the digest.
func by(keys []Key, digest [sha256.Size]byte, signature []byte) error {
	if slices.ContainsFunc(keys, func(key Key) bool { return ecdsa.VerifyASN1(key.public, digest[:], signature) }) {
		return nil
	}
	return errors.New("its signature is of other bytes, or by another key")
}

// about returns nil if a signed statement says "signed" of the digest.
func about(payload []byte, digest [sha256.Size]byte) error {
	var s statement
	err := json.Unmarshal(payload, &s)
	if err != nil || s.Predicate != predicateSign {
		return fmt.Errorf("what is signed is not the statement %s", predicateSign)
	}
	for _, subject := range s.Subject {
		got, err := hex.DecodeString(subject.Digest["sha256"])
		if err == nil && bytes.Equal(got, digest[:]) {
			return nil
		}
	}
	return errors.New("its signature is of another digest")
}

// Names are the keys, as a configuration names them.
func Names(keys []Key) string {
	var names []string
	for _, key := range keys {
		names = append(names, key.name)
	}
	return strings.Join(names, ", ")
}

package controlplane

import (
	"crypto"
	"encoding/pem"
	"fmt"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// loadOrMakeKey reads the ECDSA key in file, or makes one there with mode 0600.
func loadOrMakeKey(file string) (crypto.Signer, error) {
	data, _, err := keyutil.LoadOrGenerateKeyFile(file)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", file, err)
	}
	key, err := keyutil.ParsePrivateKeyPEM(data)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w: remove the data directory to start afresh", file, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("key %s: cannot sign: remove the data directory to start afresh", file)
	}
	return signer, nil
}

func encodeCert(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: der})
}

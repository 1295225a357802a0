package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// architectures are those of Linux that Kubernetes runs on, by ELF's names.
var architectures = map[elf.Machine]string{
	elf.EM_X86_64:  "amd64",
	elf.EM_AARCH64: "arm64",
	elf.EM_PPC64:   "ppc64le",
	elf.EM_S390:    "s390x",
}

// architectureOf says what a binary is for, if it runs in an image that holds
// nothing else.
func architectureOf(path string) (string, error) {
	f, err := elf.Open(path)
	if format := (*elf.FormatError)(nil); errors.As(err, &format) || errors.Is(err, io.EOF) {
		return "", errors.New("not a Linux binary; build it with GOOS=linux")
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "", errors.New("dynamically linked, but the image has no libraries; build it with CGO_ENABLED=0")
		}
	}
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return "", fmt.Errorf("not an executable: %s", f.Type)
	}
	arch, ok := architectures[f.Machine]
	if !ok {
		return "", fmt.Errorf("unknown architecture %s", f.Machine)
	}
	return arch, nil
}

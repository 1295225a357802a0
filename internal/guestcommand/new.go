package guestcommand

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"wasmkwokwizardry.io/regex-scheduling/guest"
)

// templates are the files of a new guest: those of its language, and those of both. NAME stands
// for its name.
//
//go:embed new
var templates embed.FS

// names are good for a folder, a module, a plugin and a file.
var names = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func newNew() *cobra.Command {
	var language string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a folder with a guest, its test, and the kit, in Go or Rust",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, given []string) error {
			name := given[0]
			if !names.MatchString(name) {
				return fmt.Errorf("%q: a name has small letters, digits and -, and begins with a letter", name)
			}
			writeKit, ok := kits[language]
			if !ok {
				return fmt.Errorf("--language: invalid value %q: use go or rust", language)
			}
			if err := os.Mkdir(name, 0o755); err != nil {
				return err
			}
			for _, folder := range []string{"both", language} {
				own, err := fs.Sub(templates, "new/"+folder)
				err = errors.Join(err, copyFiles(own, name, name))
				if err != nil {
					return err
				}
			}
			err := writeKit(filepath.Join(name, "kit"), name)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "Made %s/. Next:\n\n  cd %[1]s\n  make\n  guest run %[1]s.wasm --pod pod.yaml --nodes nodes.yaml\n  simulator --config config.yaml\n", name)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&language, "language", "go", "go or rust")
	return cmd
}

// kits write the kit of a language beside a guest that has a name.
var kits = map[string]func(folder, name string) error{
	"go": func(folder, name string) error {
		return errors.Join(
			copyFiles(guest.Source, folder, name),
			os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module wasmkwokwizardry.io/regex-scheduling/guest\n\ngo 1.25.0\n"), 0o644),
		)
	},
	"rust": func(folder, name string) error {
		crate, err := fs.Sub(guest.RustSource, "rust")
		return errors.Join(err, copyFiles(crate, folder, name))
	},
}

// copyFiles writes files into the folder of a guest that has a name. It skips the kit's tests, and
// the file that embeds the kit.
func copyFiles(from fs.FS, to, name string) error {
	return fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || path == "source.go" {
			return err
		}
		text, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		file := filepath.Join(to, filepath.FromSlash(strings.TrimSuffix(path, ".txt")))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, bytes.ReplaceAll(text, []byte("NAME"), []byte(name)), 0o644)
	})
}

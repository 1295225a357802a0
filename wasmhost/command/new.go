package command

import (
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

// templates are the files of a new guest. NAME stands for its name.
//
//go:embed new
var templates embed.FS

// names are good for a folder, a module, a plugin and a file.
var names = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func newNew() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Create a folder with a guest in plain Go, its test, and the kit",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, given []string) error {
			name := given[0]
			if !names.MatchString(name) {
				return fmt.Errorf("%q: a name has small letters, digits and -, and begins with a letter", name)
			}
			if err := os.Mkdir(name, 0o755); err != nil {
				return err
			}
			err := errors.Join(
				copyFiles(templates, "new", name, func(file, text string) (string, string) {
					return strings.TrimSuffix(file, ".txt"), strings.ReplaceAll(text, "NAME", name)
				}),
				copyFiles(guest.Source, ".", filepath.Join(name, "kit"), func(file, text string) (string, string) {
					if strings.HasSuffix(file, "_test.go") || file == "source.go" {
						return "", ""
					}
					return file, text
				}),
				os.WriteFile(filepath.Join(name, "kit", "go.mod"), []byte("module wasmkwokwizardry.io/regex-scheduling/guest\n\ngo 1.25.0\n"), 0o644),
			)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "Made %s/. Next:\n\n  cd %[1]s\n  make\n  guest run %[1]s.wasm --pod pod.yaml --nodes nodes.yaml\n  simulator --config config.yaml\n", name)
			}
			return err
		},
	}
}

// copyFiles writes the files of a folder as change has them, and skips those to
// which it gives no name.
func copyFiles(from fs.FS, folder, to string, change func(file, text string) (string, string)) error {
	return fs.WalkDir(from, folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		name, text := change(strings.TrimPrefix(path, folder+"/"), string(data))
		if name == "" {
			return nil
		}
		name = filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(text), 0o644)
	})
}

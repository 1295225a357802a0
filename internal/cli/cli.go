// Package cli is what the command lines of all programs have in common, beside what cobra
// does: which build a program is, how wide help is, and how usage errors are reported.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/template"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/api/resource"

	"wasmkwokwizardry.io/regex-scheduling/internal/version"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// StatusUsage is the exit status for a [UsageError].
const StatusUsage = 2

// UsageError is about what was typed.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage makes a UsageError of an error, and nil of none.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// Main runs a program until it ends. Its context is done with Ctrl-C or SIGTERM; a second one ends
// the process at once.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// addTemplateFuncs adds to the functions that all commands of this process share.
var addTemplateFuncs = sync.OnceFunc(func() {
	cobra.AddTemplateFuncs(template.FuncMap{
		"fold":   func(text string) string { return foldParagraphs(text, Width(os.Stdout, 80)) },
		"indent": func(line string) string { return strings.Join(Fold(line, Width(os.Stdout, 80)-4), "\n    ") },
	})
})

// Complete gives a program, once it has all of its commands, the command version, and
// --version where it has no such flag. Its errors are UsageErrors where they are about what
// was typed; the program prints them.
func Complete(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	if root.Flags().Lookup("version") == nil {
		root.Version = version.String()
		root.SetVersionTemplate("{{.Version}}\n")
		root.Flags().Bool("version", false, "print which build this is")
		inherited := pflag.CommandLine.Lookup("version")
		if inherited != nil { // component-base's, in the help of each command
			inherited.Hidden = true
		}
	}
	addTemplateFuncs()
	width := Width(os.Stdout, 80)
	root.SetHelpTemplate(strings.Replace(root.HelpTemplate(), "{{. |", "{{. | fold |", 1))
	root.SetUsageTemplate(strings.NewReplacer(
		".FlagUsages", fmt.Sprint(".FlagUsagesWrapped ", width), "{{.UseLine}}", "{{.UseLine | indent}}").Replace(root.UsageTemplate()))
	root.AddCommand(&cobra.Command{
		Use: "version", Short: "Print which build this is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.String())
			return err
		},
	})
	if !root.Runnable() {
		root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	root.Args = knownCommand
	root.SuggestionsMinimumDistance = suggestedDistance
	markUsage(root)
}

// markUsage has a command and those below it say which of their errors are about what was
// typed.
func markUsage(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(flagError)
	validate := cmd.Args
	if validate != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := validate(cmd, args); err != nil {
				return UsageError{err}
			}
			return nil
		}
	}
	for _, below := range cmd.Commands() {
		markUsage(below)
	}
}

// flagError says of an unknown flag which one may be meant, and of a value what is wrong with it,
// without the name of the function that parses it.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *strconv.NumError
	switch {
	case errors.As(err, &unknown) && !cmd.HasParent() && cmd.Flags().NArg() > 0: // a flag of the command that was meant
		return UsageError{knownCommand(cmd, cmd.Flags().Args())}
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		flags := &cobra.Command{SuggestionsMinimumDistance: suggestedDistance}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			flags.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
		})
		err = fmt.Errorf("%w%s", err, didYouMean("--", flags.SuggestionsFor(unknown.GetSpecifiedName())))
	case errors.As(err, &invalid):
		reason := invalid.Err.Error()
		if errors.Is(invalid, strconv.ErrSyntax) || invalid.Func == "ParseUint" {
			reason = valid[invalid.Func]
		}
		err = errors.New(strings.Replace(err.Error(), invalid.Error(), reason, 1))
	}
	return UsageError{err}
}

// valid says what a function of strconv takes.
var valid = map[string]string{
	"ParseBool": "use true or false", "ParseInt": "use a whole number", "ParseUint": "use a whole number from 0 to 18446744073709551615", "ParseFloat": "use a number",
}

// suggestedDistance is how many letters may be wrong in what is meant.
const suggestedDistance = 2

func didYouMean(prefix string, similar []string) string {
	if len(similar) == 0 {
		return ""
	}
	return "; did you mean " + prefix + strings.Join(similar, " or "+prefix) + "?"
}

// knownCommand refuses what is no command, and says which one may be meant.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown command %q%s; try %s --help", args[0], didYouMean("", cmd.SuggestionsFor(args[0])), cmd.DisplayName())
}

// Width is how many columns a terminal has, or another number for what is none.
func Width(out io.Writer, other int) int {
	file, ok := out.(*os.File)
	if ok {
		width, _, err := term.GetSize(int(file.Fd()))
		if err == nil {
			return width
		}
	}
	return other
}

func foldParagraphs(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.Join(Fold(paragraph, width), "\n")
	}
	return strings.Join(paragraphs, "\n\n")
}

// Fold breaks a text between words into lines of a width. A longer word is on a line of its own.
func Fold(text string, width int) (lines []string) {
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last < 0 || utf8.RuneCountInString(lines[last]+" "+word) > width {
			lines = append(lines, word)
		} else {
			lines[last] += " " + word
		}
	}
	return lines
}

// oneOf is a flag with some values.
type oneOf struct {
	value *string
	all   []string
}

// OneOf makes a flag that takes one of some values. What it has now is the default, which
// may be none of them.
func OneOf(value *string, all ...string) pflag.Value { return oneOf{value, all} }

func (o oneOf) String() string { return *o.value }

// Type implements pflag.Value: help shows it behind the flag.
func (o oneOf) Type() string { return "string" }

func (o oneOf) Set(value string) error {
	if !slices.Contains(o.all, value) {
		last := len(o.all) - 1
		return fmt.Errorf("use %s", strings.Trim(strings.Join(o.all[:last], ", ")+" or "+o.all[last], " or"))
	}
	*o.value = value
	return nil
}

// Bytes is a flag with a number of bytes, as a quantity.
type Bytes struct{ resource.QuantityValue }

func (b *Bytes) Set(value string) error {
	err := yamlcheck.Quantities([]byte(strconv.Quote(value)), reflect.TypeFor[resource.Quantity]())
	var quantity resource.QuantityValue
	if err != nil || quantity.Set(value) != nil || quantity.Sign() < 0 || quantity.CmpInt64(math.MaxInt64-1) > 0 {
		return errors.New("use a number of bytes from 0 to 7Ei, such as 2Gi")
	}
	b.QuantityValue = quantity
	return nil
}

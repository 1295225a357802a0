// Command kubectl-regex is a plugin of kubectl: `kubectl regex` says which nodes a
// pod's regex matches, and what is wrong with it.
package main

import (
	"context"
	"io"
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/kubectl"
)

func main() {
	cli.Main(func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return kubectl.Run(ctx, args, genericiooptions.IOStreams{In: os.Stdin, Out: stdout, ErrOut: stderr})
	})
}

// Command image puts a program in Go, linked statically for Linux, into an OCI
// image, without a container engine, and writes that as an archive:
//
//	go run ./image --name registry.example/regex-scheduling/scheduler:dev --out scheduler.tar amd64/scheduler arm64/scheduler
//
// The image has no base. It holds the binary, the licenses of what that is made of, the
// certificates of public authorities, and /tmp. The same binary, name, revision and version of
// this command give the same bytes.
package main

import (
	"flag"
	"fmt"
	"os"

	registry "github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func main() {
	name := flag.String("name", "", "full `name` of the image: registry/repository:tag")
	revision := flag.String("revision", "", "`commit` of the source, for a label")
	out := flag.String("out", "", "`file` to write the archive to")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "image: wants a binary, or one for each architecture")
		os.Exit(2)
	}
	if err := pack(flag.Args(), *name, *revision, *out); err != nil {
		fmt.Fprintf(os.Stderr, "image: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(*out, *name)
}

// pack writes the archive of a binary, for one architecture or more.
func pack(binaries []string, name, revision, out string) error {
	// With a registry: containerd and podman would guess different ones.
	ref, err := registry.NewTag(name, registry.StrictValidation)
	if err != nil {
		return fmt.Errorf("name of the image: %w", err)
	}
	labels := map[string]string{"org.opencontainers.image.version": ref.TagStr()}
	if revision != "" {
		labels["org.opencontainers.image.revision"] = revision
	}
	var images []v1.Image
	for _, binary := range binaries {
		img, err := build(binary, labels)
		if err != nil {
			return fmt.Errorf("%s: %w", binary, err)
		}
		images = append(images, img)
	}
	return writeArchive(out, images, ref)
}

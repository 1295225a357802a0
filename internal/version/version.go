// Package version tells which build of the project a program is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// The Makefile has the linker set them, with -X.
var tag, commit string

// Tag is the release that the program belongs to, or "(devel)".
func Tag() string {
	if tag != "" {
		return tag
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" { // go install …@v0.1.0
		return info.Main.Version
	}
	return "(devel)"
}

// String has the release, the commit, and what the program was built from and for.
func String() string {
	s := Tag()
	if commit != "" {
		s += " of commit " + commit
	}
	k := kubernetes()
	if k != "" {
		s += ", " + k
	}
	return fmt.Sprintf("%s, %s, %s/%s", s, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// kubernetes names what of Kubernetes is in the program, in the version that was
// linked, whichever module file chose it.
func kubernetes() string {
	info, _ := debug.ReadBuildInfo()
	for _, part := range []struct{ module, name string }{
		{"k8s.io/kubernetes", "Kubernetes"}, {"k8s.io/client-go", "client-go"}, {"k8s.io/apimachinery", "apimachinery"},
	} {
		for _, dep := range info.Deps {
			if dep.Path != part.module {
				continue
			}
			if dep.Replace != nil {
				dep = dep.Replace
			}
			return part.name + " " + dep.Version
		}
	}
	return ""
}

package deploy

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"testing"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/static"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestGuestIsPinned compares the digest in the configuration with the guest
// that static-webserver serves under its URL.
func TestGuestIsPinned(t *testing.T) {
	var c struct {
		Profiles []struct {
			PluginConfig []struct{ Args wasmhost.Args }
		}
	}
	testkit.Must(t, yaml.Unmarshal([]byte(configOf(t, mustRender(t, "scheduler/wasm"))), &c))
	args := c.Profiles[0].PluginConfig[0].Args
	wasm, err := static.Files.ReadFile(path.Base(args.GuestURL))
	testkit.Must(t, err)
	sum := sha256.Sum256(wasm)
	is := hex.EncodeToString(sum[:])
	if args.GuestSHA256 != is {
		t.Errorf("%s has the digest %s, but deploy/scheduler/wasm/config.yaml says guestSHA256: %s", path.Base(args.GuestURL), is, args.GuestSHA256)
	}
}

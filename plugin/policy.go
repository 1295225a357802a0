package plugin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// cacheBytes bounds the memory that compiled patterns take.
const cacheBytes = 16 << 20

// decodePolicy reads the plugin's args.
func decodePolicy(args runtime.Object) (regex.Policy, error) {
	if args == nil {
		return regex.Default, nil
	}
	unknown, ok := args.(*runtime.Unknown)
	if !ok {
		return regex.Policy{}, fmt.Errorf("they are a %T", args)
	}
	raw := unknown.Raw
	if unknown.ContentType == runtime.ContentTypeYAML {
		var err error
		if raw, err = yaml.YAMLToJSONStrict(raw); err != nil {
			return regex.Policy{}, err
		}
	}
	return regex.ParseConfig(raw)
}

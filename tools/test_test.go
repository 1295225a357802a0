package tools

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestTestRunsEachModuleAndSaysAtItsEndWhatFailed(t *testing.T) {
	const withTest = "package m\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) { "
	dir := t.TempDir()
	for module, source := range map[string]string{
		"fails":   withTest + "t.Run(\"of two\", func(t *testing.T) { t.Error(\"no sum\") }) }\n",
		"broken":  withTest + "sum() }\n",
		"panics":  withTest + "panic(\"no sum\") }\n",
		"passes":  withTest + "t.Log(\"not to be seen\"); t.Run(\"of more\", func(t *testing.T) { t.Skip(\"*** NOT TESTED: no abacus: buy one\") }) }\n",
		"passes2": withTest + "}\n",
	} {
		writeModule(t, dir+"/"+module, module, "", "package m\n")
		write(t, dir+"/"+module+"/p_test.go", []byte(source))
	}
	run := func(modules ...string) (said string, err error) {
		command := exec.CommandContext(t.Context(), "./test.sh")
		for _, module := range modules {
			command.Args = append(command.Args, module+": cd "+dir+"/"+module+" && go test -json -vet=off ./...")
		}
		command.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
		out, err := command.CombinedOutput()
		return string(out), err
	}

	said, err := run("fails", "passes", "broken", "panics", "passes2")
	if err == nil {
		t.Error("it succeeds")
	}
	ran, failed, _ := strings.Cut(said, "\n\n*** NOT TESTED: no abacus: buy one\n\nFAILED:\n")
	for _, want := range []string{"passes: go test\n    p_test.go:5: *** NOT TESTED: no abacus: buy one\nok ", "passes2: go test\nok ", "undefined: sum", "panic: no sum", "no sum\n"} {
		if !strings.Contains(ran, want) {
			t.Errorf("%q is missing in: %s", want, ran)
		}
	}
	rest := failed
	for _, want := range []string{
		"fails\n    --- FAIL: TestSum/of_two", "    --- FAIL: TestSum ", "    FAIL\texample.com/fails\t",
		"broken\n    FAIL\texample.com/broken [build failed]\n", "panics\n    --- FAIL: TestSum", "    panic: no sum", "    FAIL\texample.com/panics\t",
	} {
		var found bool
		if _, rest, found = strings.Cut(rest, want); !found {
			t.Fatalf("%q is missing, or not at its place, in what failed: %s", want, failed)
		}
	}
	if strings.Contains(failed, "passes") || strings.Contains(said, "not to be seen") {
		t.Errorf("of what passed, it says too much: %s", said)
	}

	said, err = run("passes", "passes2")
	if err != nil || strings.Contains(said, "FAILED") {
		t.Errorf("%v: %s", err, said)
	}
}

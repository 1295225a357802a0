package dialect

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestHostlist(t *testing.T) {
	for pattern, want := range map[string]string{
		`node[001-128]`:       "[001-128] matches one character",
		`^gpu-[10,12]$`:       "[10,12] matches one character",
		`node[1-3]`:           "",
		`node-[12]$`:          "",
		`node[0-9]+`:          "",
		`^node-(1|2)$`:        "",
		`node{1..3}`:          "{1..3} stands for these characters",
		`node{1,3}`:           "",
		`kubecon-.*`:          "",
		`a-*b`:                "",
		`node-0*1`:            "",
		`gpu-?[0-9]+`:         "",
		`gpu-\d*`:             "",
		`^node-[0-9]+a?$`:     "",
		`node-[0-9]+a?`:       "",
		`[0-9]??-a`:           "",
		`gpu-[,a]?`:           "",
		`a{2,3}-(b|c)*`:       "",
		`^node-(1|2)?$`:       "",
		`^node-[[:digit:]]+$`: "",
		`^worker-[0-9]+b?$`:   "",
		`^nodes?$`:            "",
		`^node-\d+a?$`:        "",
		`^a$|^b?$`:            "",
		`^gke-pool-1-.*x?$`:   "",
		`gke-.*-pool?`:        "",
		`gpu-.?-a?`:           "",
	} {
		got := strings.Join(Hostlist(pattern), "; ")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}

func TestPatternOfAHostlistMatchesItsNamesAlone(t *testing.T) {
	for _, bounds := range [][2]int{{1, 128}, {0, 10}, {10, 99}, {100, 199}, {7, 1203}, {95, 105}, {999, 1000}, {42, 43}, {120, 121}} {
		for _, width := range []int{1, 2, 4} {
			list := fmt.Sprintf("n[%0*d-%0*d]", width, bounds[0], width, bounds[1])
			re := regexp.MustCompile(ofHostlist(list))
			for i := range 1500 {
				name := fmt.Sprintf("n%0*d", width, i)
				if re.MatchString(name) != (i >= bounds[0] && i <= bounds[1]) {
					t.Errorf("%s is %s, for %s", list, re, name)
				}
			}
			for _, other := range []string{"n", "n00100", "n100x", "xn100"} {
				if re.MatchString(other) {
					t.Errorf("%s is %s, which matches %s", list, re, other)
				}
			}
		}
	}
	for _, other := range []string{"n[12-3]", "n[1-", "n[1-2-30]", "n[1-1234567]", "n[a-b]", "n[10-12]*", "n[1-2],,m"} {
		got := ofHostlist(other)
		if got != "" {
			t.Errorf("%s is %s", other, got)
		}
	}
}

func TestGlobAndListHaveThePatternThatWasMeant(t *testing.T) {
	// In regex-exclude, too, this is not wrong.
	const exclude = "; to exclude nodes, the annotation regex-exclude takes their pattern without !"
	for pattern, want := range map[string]string{
		`kubecon-*`:                "; for names like that write ^kubecon-",
		`node*`:                    "; for names like that write ^node",
		`gpu-??`:                   "; for names like that write ^gpu-..$",
		`^node*`:                   "; for any text write .*, and . for one character",
		`gpu-?`:                    "; for names like that write ^gpu-.$",
		`rack-*-gpu.a`:             `; for names like that write ^rack-.*-gpu\.a$`,
		`^(gpu|cpu)-*$`:            "; for any text write .*, and . for one character",
		`node-1,node-2`:            "; for a list of names write ^(node-1|node-2)$",
		`a-*, gpu-?`:               "; for a list of names write ^(a-.*|gpu-.)$",
		`node[001-128]`:            `; for these names write ^node(00[1-9]|0[1-9][0-9]|1[01][0-9]|12[0-8])$`,
		`^gpu[1-12], login$`:       `; for these names write ^(gpu([1-9]|1[0-2])|login)$`,
		`rack[1-3].n[08,10],a[12]`: `; for these names write ^(rack[1-3]\.n(08|10)|a12)$`,
		`node[10-12].*`:            "; write the alternatives, as in (0[1-9]|1[0-2])",
		`gpu[1-2],[a-b]1`:          "; for a list of names write the alternatives, as in ^(node-1|node-2)$",
		`node-.*,gpu-.*`:           "; for a list of names write ^(node-.*|gpu-.*)$",
		`node-.*,gpu-*`:            "; for a list of names write ^(node-.*|gpu-.*)$",
		`.*-*-.*`:                  "; for any text write .*, and . for one character",
		`ip-10-*.ec2.a`:            `; for names like that write ^ip-10-.*\.ec2\.a$`,
		`!gpu`:                     exclude + ": gpu",
		`!gpu-*`:                   exclude + ": ^gpu-",
		`!*-gpu`:                   exclude + ": ^.*-gpu$",
		`!gpu-.*`:                  exclude + ": gpu-.*",
		`!(gpu|tpu)`:               exclude,
	} {
		got := Hostlist(pattern)
		if len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}

// TestPatternThatWasMeantMatchesAllThatWasNamed compares the pattern that a note recommends with another reading of the globs.
func TestPatternThatWasMeantMatchesAllThatWasNamed(t *testing.T) {
	words := []string{""}
	for length, begins := 0, words; length < 4; length++ {
		var longer []string
		for _, begin := range begins {
			for _, part := range []string{"a", "-", ".", "*", "?", ".*"} {
				longer = append(longer, begin+part)
			}
		}
		words, begins = append(words, longer...), longer
	}
	names := slices.DeleteFunc(slices.Clone(words), func(name string) bool { return strings.ContainsAny(name, "*?") })
	named := func(word, name string) bool {
		ok, err := path.Match(word, name)
		if strings.Contains(word, ".*") || strings.Contains(word, ".?") {
			if re, wrong := regexp.Compile("^(" + word + ")$"); wrong == nil {
				return re.MatchString(name)
			}
		}
		return ok && err == nil
	}
	recommended := regexp.MustCompile(`(?: write|without !:) (\S*[a-z.-]\S*)$`)
	count := 0
	for _, word := range words[1:] {
		for _, pattern := range []string{word, "!" + word, "aa," + word, word + " a.*"} {
			if _, err := regexp.Compile(pattern); err != nil {
				continue
			}
			for _, note := range Hostlist(pattern) {
				found := recommended.FindStringSubmatch(note)
				if found == nil {
					continue
				}
				count++
				re, err := regexp.Compile(found[1])
				if err != nil {
					t.Errorf("%s: %s: %v", pattern, note, err)
					continue
				}
				missed := slices.IndexFunc(names, func(name string) bool { return named(word, name) && !re.MatchString(name) })
				if missed >= 0 {
					t.Errorf("%s: %s does not match %s", pattern, found[1], names[missed])
				}
			}
		}
	}
	if count < 1000 {
		t.Errorf("only %d patterns were recommended", count)
	}
}

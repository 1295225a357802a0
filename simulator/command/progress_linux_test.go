package command

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// terminal is a new one, and what it shows once it is closed.
func terminal(t *testing.T) (tty *os.File, shown func() string) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		testkit.NotTested(t, "no terminal: mount /dev/pts: "+err.Error())
	}
	t.Cleanup(func() { control.Close() })
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(control.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 60, Row: 20})
	}
	testkit.Must(t, err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		testkit.NotTested(t, "no terminal: mount /dev/pts: "+err.Error())
	}
	return tty, func() string {
		tty.Close()
		all, _ := io.ReadAll(control) // until the other end is closed, which is an error
		return string(all)
	}
}

func TestProgressOnATerminalIsOneLineThatIsDrawnAgain(t *testing.T) {
	tty, shown := terminal(t)
	status := run(t.Context(), []string{"compare", "--cluster", compared, "--a", "native", "--b", "native"}, io.Discard, tty)
	text := shown()
	if status != 0 || !regexp.MustCompile(`\r\x1b\[K +[\d.]+s  [█░]{20}  A: reads the cluster`).MatchString(text) || !strings.HasSuffix(text, "\r\x1b[K") || strings.Contains(text, "\n") {
		t.Errorf("status %d: %q", status, text)
	}
}

package snapshot

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
)

// File is a part of what is read: a file, or a folder. Errors name it.
type File struct {
	Name string
	io.Reader
	io.Closer       // or nil
	Folder    fs.FS // or nil
}

// Open is what a path names: stdin for "-", a file, or a folder.
func Open(path string, stdin io.Reader) (File, error) {
	if path == "-" {
		return File{Reader: stdin}, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return File{Folder: os.DirFS(path)}, nil
	}
	file, err := readfile.Open(path)
	if err != nil {
		return File{}, err
	}
	return File{Reader: file, Closer: file}, nil
}

// noObjects is an error about what has no objects of a cluster. Among several files it is skipped.
type noObjects struct{ error }

// syntaxError is about what is not JSON or YAML, or not all of it.
type syntaxError struct{ error }

// texts are the extensions of the files that kubectl reads in a folder.
var texts = []string{".json", ".yaml", ".yml"}

// extensions are of the files in a folder or an archive that are read whatever they begin with, compressed or not. Of others, such
// as logs, the beginning decides.
var extensions = append(slices.Clone(texts), ".tar", ".tgz", ".zip")

// folder reads the files of a folder, or of an archive that can be read as one.
func (in *reading) folder(folder fs.FS, depth int) error {
	return fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() { // a link may lead out of the folder, and a pipe or a device may have no end
			return in.part(name, nil, depth)
		}
		return in.part(name, func() (io.ReadCloser, error) { return folder.Open(name) }, depth)
	})
}

// part reads one of several files, which need not have objects.
func (in *reading) part(name string, open func() (io.ReadCloser, error), depth int) error {
	if open == nil {
		in.unopened = append(in.unopened, name)
		return nil
	}
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	content := bufio.NewReaderSize(file, headSize)
	extension := path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	if in.manifest != nil { // the files that kubectl would read of a folder, but for what macOS adds to an archive
		added := strings.HasPrefix(path.Base(name), "._") || strings.HasPrefix(name, "__MACOSX/")
		if slices.Contains(texts, path.Ext(name)) && !added {
			err = in.file(name, content, depth+1)
		}
		return inFile(name, err)
	}
	if !slices.Contains(extensions, extension) {
		head, _ := content.Peek(headSize)
		unpacked, err := gzip.NewReader(bytes.NewReader(head))
		if err == nil {
			head, _ = io.ReadAll(io.LimitReader(unpacked, headSize)) // until the head ends
		}
		head, _, _ = transform.Bytes(unicode.BOMOverride(transform.Nop), head)
		if !strings.HasPrefix(http.DetectContentType(head), "text/") {
			in.unopened = append(in.unopened, name)
			return nil
		}
		if !beginsObject.Match(head) || !namesKind(head) {
			in.foreignFiles = append(in.foreignFiles, name)
			return nil
		}
	}
	before := in.recognized
	err = in.file(name, content, depth+1)
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(noObjects)) && in.recognized == before:
		in.foreignFiles = append(in.foreignFiles, name)
		return nil
	}
	return inFile(name, err)
}

func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// file reads a file, or what is in it if it is compressed or an archive.
func (in *reading) file(name string, r io.Reader, depth int) error {
	if depth > maxNested {
		return fmt.Errorf("archives are nested more than %d deep", maxNested)
	}
	file := bufio.NewReader(bounded{r, in})
	begin, _ := file.Peek(512)
	switch {
	case bytes.HasPrefix(begin, []byte("\x1f\x8b")):
		content, err := gzip.NewReader(file)
		if err != nil {
			return fmt.Errorf("not gzip: %w", err)
		}
		return in.file(strings.TrimSuffix(name, ".gz"), content, depth+1)
	case bytes.HasPrefix(begin, []byte("PK\x03\x04")):
		content, err := io.ReadAll(file) // its table of contents is at its end
		if err != nil {
			return err
		}
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return fmt.Errorf("the archive is damaged or cut off: %w", err)
		}
		return in.folder(archive, depth)
	case len(begin) > 262 && string(begin[257:262]) == "ustar":
		return in.tar(file, depth)
	}
	for format, magic := range map[string]string{"xz": "\xfd7zXZ\x00", "zstd": "\x28\xb5\x2f\xfd", "bzip2": "BZh"} {
		if bytes.HasPrefix(begin, []byte(magic)) {
			return noObjects{fmt.Errorf("it is compressed by %s, which is not read: unpack it, or compress it by gzip", format)}
		}
	}
	return in.text(name, file)
}

// untilEnd notes that there is nothing more to read.
type untilEnd struct {
	io.Reader
	ended bool
}

func (u *untilEnd) Read(into []byte) (n int, err error) {
	n, err = u.Reader.Read(into)
	u.ended = u.ended || errors.Is(err, io.EOF)
	return n, err
}

func (in *reading) tar(file io.Reader, depth int) error {
	text := &untilEnd{Reader: file}
	archive := tar.NewReader(text)
	for {
		entry, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && text.ended: // and not by the blocks that end an archive
			return errors.New("the archive is cut off: it lacks its end")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the archive is damaged or cut off: %w", err)
		case entry.Typeflag == tar.TypeReg:
			err = in.part(entry.Name, func() (io.ReadCloser, error) { return io.NopCloser(archive), nil }, depth)
		case entry.Typeflag != tar.TypeDir && entry.Typeflag != tar.TypeXGlobalHeader:
			err = in.part(entry.Name, nil, depth)
		}
		if err != nil {
			return err
		}
	}
}

// bounded reads no more than what is left of the bytes of a reading.
type bounded struct {
	io.Reader
	in *reading
}

func (b bounded) Read(into []byte) (n int, err error) {
	n, err = b.Reader.Read(into)
	b.in.left -= int64(n)
	if b.in.left < 0 {
		return n, tooLarge(inBytes(b.in.most.bytes), b.in.most.advice)
	}
	return n, err
}

// headSize is of the part of a text that has to name a kind, or what cannot be read of it is not of a cluster.
const headSize = 64 << 10

// kubectlError and kubectlWarning match lines that kubectl writes to standard error: with 2>&1 they are in the file. What an error is about
// is missing there.
var (
	kubectlError   = regexp.MustCompile(`^(Error from server( \(|:)|error: |Unable to connect to the server: |The connection to the server )`)
	kubectlWarning = regexp.MustCompile(`^(Warning: |[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\] )`)
)

// mostWarnings are shown of a file or a folder.
const mostWarnings = 10

// objectLines is a text without the logs that kubectl cluster-info dump writes between objects, without warnings of kubectl, and, if it
// is JSON, without the lines between documents. It ends with an error at an error of kubectl.
type objectLines struct {
	from   *bufio.Reader
	json   bool
	warn   func(string) // gets a warning; nil: there are no messages any more
	number int          // of the line
	rest   []byte       // of a line that is not skipped
	within bool         // a line
	skips  bool         // the rest of the line
	logs   bool
	failed error
}

func (l *objectLines) Read(into []byte) (n int, err error) {
	for len(l.rest) == 0 {
		if l.failed != nil {
			return 0, l.failed
		}
		read := l.from.ReadSlice // or a part of a line
		if l.logs {
			read = l.from.ReadBytes
		}
		line, err := read('\n')
		if len(line) == 0 {
			return 0, err
		}
		if !l.within {
			l.number++
			l.skips = l.warn != nil && !l.logs && l.isMessage(line)
		}
		l.logs = l.logs || !l.within && bytes.HasPrefix(line, []byte("==== START logs for container "))
		between := l.json && !l.within && bytes.HasPrefix(line, []byte("---"))
		if !l.logs && !between && !l.skips {
			l.rest = line
		}
		l.logs = l.logs && !bytes.Contains(line, []byte("==== END logs for container "))
		l.within = line[len(line)-1] != '\n'
	}
	n = copy(into, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// isMessage says whether a line is a message of kubectl, and keeps it if it is an error.
func (l *objectLines) isMessage(line []byte) bool {
	message := func() string { return printable.Line(string(line), 300) }
	switch {
	case kubectlError.Match(line):
		l.failed = fmt.Errorf("line %d is an error of kubectl, and what it is about is missing in the file; without 2>&1, errors do not go into it: %s", l.number, message())
		return true
	case kubectlWarning.Match(line):
		l.warn(message())
		return true
	}
	return false
}

// text reads documents of JSON or YAML, in UTF-8, or in UTF-16 as PowerShell writes it.
func (in *reading) text(name string, r io.Reader) error {
	from := bufio.NewReaderSize(transform.NewReader(r, unicode.BOMOverride(transform.Nop)), headSize)
	whole, _ := from.Peek(headSize)
	hasObjects := namesKind(whole)
	lines := &objectLines{from: from, warn: func(message string) {
		in.warnings++
		if in.warnings <= mostWarnings {
			in.notices = append(in.notices, Notice{"a part of the file", "skipped: a warning of kubectl: " + message})
		}
	}}
	text := bufio.NewReaderSize(lines, headSize)
	head, _ := text.Peek(headSize)
	contentType := http.DetectContentType(head)
	if !strings.HasPrefix(contentType, "text/") {
		return noObjects{errors.New("it is neither text nor a .tar, .gz or .zip")}
	}
	var err error
	if beginsJSON.Match(head) {
		err = in.json(name, &objectLines{from: text, json: true})
	} else {
		err = in.yaml(name, text)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = syntaxError{fmt.Errorf("the file is cut off: %w", io.ErrUnexpectedEOF)}
	}
	if err != nil && lines.failed != nil {
		err = syntaxError{lines.failed}
	}
	if errors.As(err, new(syntaxError)) && !hasObjects {
		return noObjects{err}
	}
	return err
}

// beginsJSON matches JSON, and not YAML such as {kind: Pod}.
var beginsJSON = regexp.MustCompile(`^\s*[\[{][\[{\s]*(["\]}]|$)`)

// beginsObject matches JSON, and what YAML of kubectl begins with. Lines of a log in JSON begin so, too.
var beginsObject = regexp.MustCompile(`^(\s|#.*\n|---.*\n)*([\[{]|(- )?"?(apiVersion|kind|items|metadata|nodes|pods|source)"?:)`)

var kindField = regexp.MustCompile(`\bkind"?: *"?([A-Za-z]+)`)

// namesKind says whether the beginning of a text names a kind that is read, or a list.
func namesKind(head []byte) bool {
	return slices.ContainsFunc(kindField.FindAllSubmatch(head, -1), func(found [][]byte) bool {
		kind := strings.TrimSuffix(string(found[1]), "List")
		return kind == "" || slices.ContainsFunc(Kinds, func(k Kind) bool { return k.Kind == kind })
	})
}

package browsertest

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// save writes a picture with its 256 most frequent colours: a page has few, and the file has a
// third of the size.
func save(name string, picture []byte) error {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return err
	}
	counts := map[color.RGBA]int{}
	each(full.Bounds(), func(x, y int) { counts[at(full, x, y)]++ })
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(code(a), code(b)))
	})
	var palette color.Palette
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for c := range counts {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(full.Bounds(), palette)
	each(full.Bounds(), func(x, y int) { small.SetColorIndex(x, y, nearest[at(full, x, y)]) })
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, small); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(screenshots, name), out.Bytes(), 0o644)
}

func each(r image.Rectangle, do func(x, y int)) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			do(x, y)
		}
	}
}

func at(i image.Image, x, y int) color.RGBA {
	return color.RGBAModel.Convert(i.At(x, y)).(color.RGBA)
}

func code(c color.RGBA) uint32 { return uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B) }

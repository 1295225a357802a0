package browsertest

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
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
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			counts[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	code := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int { return cmp.Or(counts[b]-counts[a], code(a)-code(b)) })
	var palette color.Palette
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, c)
	}
	small := image.NewPaletted(full.Bounds(), palette)
	draw.Draw(small, small.Bounds(), full, image.Point{}, draw.Src)
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, small); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(screenshots, name), out.Bytes(), 0o644)
}

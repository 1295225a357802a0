# Draws results.csv: the share of all GPUs that is allocated, a point for each seed.
#
#   awk -F, -f plot.awk results.csv > results.svg

BEGIN {
	least = 85; most = 97; left = 190; right = 700; row = 34; top = 20
}

function at(share) { return left + (share - least) / (most - least) * (right - left) }

function line(y, name) {
	printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><path d=\"M%d %dH%d\" stroke=\"#8884\"/>\n", left - 14, y + 4, name, left, y, right
}

function point(share, y, drawn) { printf "<circle cx=\"%.1f\" cy=\"%d\" r=\"5\" %s/>\n", at(share), y, drawn }

NR == 1 { next }

!($1 in y) {
	y[$1] = top + row * rows++
	names[rows] = $1
}

{ shares[rows, ++points[rows]] = $4 }

END {
	height = top + row * (rows + 1) + 50
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 %d\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#777\">\n", height
	print "<title>GPUs allocated in percent of all, a point for each of five seeds</title>"
	for (r = 1; r <= rows; r++) {
		line(top + row * (r - 1), names[r])
		for (p = 1; p <= points[r]; p++)
			point(shares[r, p], top + row * (r - 1), "fill=\"#1f77b4\" fill-opacity=\"0.6\"")
	}
	line(top + row * rows, "published*")
	published["Random"] = 86.1; published["BestFit"] = 92.8; published["FGD"] = 95.2
	for (name in published) {
		point(published[name], top + row * rows, "fill=\"none\" stroke=\"#777\"")
		printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", at(published[name]), top + row * rows + 20, name
	}
	for (share = least + 1; share < most; share += 2)
		printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d %%</text>\n", at(share), height - 8, share
	print "</svg>"
}

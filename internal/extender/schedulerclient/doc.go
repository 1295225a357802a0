// Package schedulerclient has only tests: of the extender with the client that
// kube-scheduler itself uses. They are apart because they build much of
// Kubernetes, and fuzz targets beside them would instrument all of it.
package schedulerclient

// Package player plays the stages of objects: it waits for as long as a stage says,
// and then sends what its steps come to.
//
// As everywhere here, a look takes the object as it is, and each patch carries the
// resource version that was looked at: a stage is played on the object that it was
// chosen for, or chosen anew. KWOK patches by name alone; else it does the same.
//
// What it is not: it does not know what stages mean (package stages does), and of
// pods and nodes it has no informers: package kubelets hands these over.
package player

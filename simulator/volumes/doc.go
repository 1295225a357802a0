// Package volumes stands in for the storage of a cluster: for each claim that is
// to have a volume made it makes one that exists only in the API, and deletes it
// when its claim is gone.
//
// To the binder of persistent volumes it is the external provisioner of every
// StorageClass, whatever driver that names: a class that was imported names one
// that does not run here. Classes of kubernetes.io/no-provisioner make no volumes
// anywhere.
//
// What it is not: it binds nothing, attaches nothing and keeps no data. That is
// the binder's and the scheduler's work, and nobody's. It is no API.
package volumes

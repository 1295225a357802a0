package abi

// Code is a status code. Doc is in Markdown.
type Code struct{ Name, Doc string }

// Codes are the status codes, by number.
var Codes = []Code{
	{"Success", ""},
	{"Error", "something went wrong, the pod is tried again"},
	{"Unschedulable", "not here, but evicting pods may help"},
	{"UnschedulableAndUnresolvable", "not here, whatever is evicted"},
	{"Wait", "of `permit` only"},
	{"Skip", "of `prefilter`, `prescore`, `bind` only"},
	{"Pending", "not before something outside happens"},
}

// The severities of [ImportLog]. From SeverityFatal on, all are logged as errors: no guest ends the scheduler.
const (
	SeverityInfo    = 0
	SeverityWarning = 1
	SeverityError   = 2
	SeverityFatal   = 3
)

// Resources are the kinds of objects of [ImportClusterEvents], by number. No cluster has a PodSchedulingContext any more.
var Resources = []string{
	"Pod", "Node", "PersistentVolume", "PersistentVolumeClaim", "PodSchedulingContext", "ResourceClaim", "StorageClass",
	"CSINode", "CSIDriver", "CSIStorageCapacity", "all of these",
}

// Actions are what happens to such an object, by bit, from the lowest on: as Kubernetes 1.32 numbers them.
var Actions = []string{
	"Add", "Delete",
	"UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint", "UpdateNodeCondition", "UpdateNodeAnnotation",
	"UpdatePodLabel", "UpdatePodScaleDown", "UpdatePodTolerations", "UpdatePodSchedulingGatesEliminated", "UpdatePodGeneratedResourceClaim",
	"UpdatePodOther",
}

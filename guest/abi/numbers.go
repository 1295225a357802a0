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

// FieldResources is the number of a field of v1.Pod and v1.Node in protobuf that Kubernetes does not have: a message of what kube-scheduler
// counts. Amounts are maps from the name of a resource to an int64, in thousandths for cpu, in bytes for memory and ephemeral-storage, in
// units for others.
const FieldResources = 1000

// The numbers of the message's fields, and of those of a map's entry.
const (
	ResourcesComplete    = 1
	ResourcesRequests    = 2
	ResourcesAllocatable = 3
	ResourcesRequested   = 4
	ResourcesPods        = 5

	AmountResource = 1
	AmountValue    = 2
)

// AmountFields are the fields of the message. Doc is in Markdown.
var AmountFields = []struct {
	Number          int
	Type, Name, Doc string
}{
	{ResourcesComplete, "bool", "complete", "an amount that is missing is 0"},
	{ResourcesRequests, amounts, "requests", "of the pod; 1 of `pods`"},
	{ResourcesAllocatable, amounts, "allocatable", "of the node"},
	{ResourcesRequested, amounts, "requested", "by the pods on the node"},
	{ResourcesPods, "int64", "pods", "on the node"},
}

const amounts = "map<string, int64>"

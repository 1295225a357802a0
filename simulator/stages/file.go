package stages

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What a stage says that it is.
const (
	apiVersion = "kwok.x-k8s.io/v1alpha1"
	kindStage  = "Stage"
	kindList   = "StageList"
)

// file is a Stage as it stands in a file.
type file struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
	Spec       spec              `json:"spec"`
	Status     map[string]any    `json:"status"` // KWOK's to write
}

// list is several of them.
type list struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   metav1.ListMeta `json:"metadata"`
	Items      []file          `json:"items"`
}

type spec struct {
	ResourceRef        resourceRef     `json:"resourceRef"`
	Selector           *selector       `json:"selector"`
	Weight             int64           `json:"weight"`
	WeightFrom         *expressionFrom `json:"weightFrom"`
	Delay              *delay          `json:"delay"`
	Next               *next           `json:"next"`
	Steps              []step          `json:"steps"`
	ImmediateNextStage bool            `json:"immediateNextStage"`
}

// resourceRef has the whole apiVersion in apiGroup.
type resourceRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
}

type selector struct {
	MatchLabels      map[string]string `json:"matchLabels"`
	MatchAnnotations map[string]string `json:"matchAnnotations"`
	MatchExpressions []matchExpression `json:"matchExpressions"`
}

// matchExpression has what jq has once more, from before there was CEL.
type matchExpression struct {
	CEL      *expression `json:"cel"`
	JQ       *matchJQ    `json:"jq"`
	Key      string      `json:"key"`
	Operator string      `json:"operator"`
	Values   []string    `json:"values"`
}

type matchJQ struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type expression struct {
	Expression string `json:"expression"`
}

type expressionFrom struct {
	CEL            *expression `json:"cel"`
	JQ             *expression `json:"jq"`
	ExpressionFrom string      `json:"expressionFrom"` // jq, from before there was CEL
}

type delay struct {
	DurationMilliseconds       *int64          `json:"durationMilliseconds"`
	DurationFrom               *expressionFrom `json:"durationFrom"`
	JitterDurationMilliseconds *int64          `json:"jitterDurationMilliseconds"`
	JitterDurationFrom         *expressionFrom `json:"jitterDurationFrom"`
}

// next is what there was before steps.
type next struct {
	Event             *event      `json:"event"`
	Finalizers        *finalizers `json:"finalizers"`
	Delete            bool        `json:"delete"`
	Patches           []patch     `json:"patches"`
	StatusTemplate    string      `json:"statusTemplate"`
	StatusSubresource *string     `json:"statusSubresource"`
	StatusPatchAs     *user       `json:"statusPatchAs"`
}

type step struct {
	Event      *event      `json:"event"`
	Finalizers *finalizers `json:"finalizers"`
	Delete     bool        `json:"delete"`
	Patch      *patch      `json:"patch"`
	Apply      *apply      `json:"apply"`
}

type event struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type finalizers struct {
	Add    []finalizer `json:"add"`
	Remove []finalizer `json:"remove"`
	Empty  bool        `json:"empty"`
}

type finalizer struct {
	Value string `json:"value"`
}

type patch struct {
	Subresource   string `json:"subresource"`
	Root          string `json:"root"`
	Template      string `json:"template"`
	Type          string `json:"type"`
	Impersonation *user  `json:"impersonation"`
}

type apply struct {
	Template      string `json:"template"`
	Subresource   string `json:"subresource"`
	Type          string `json:"type"`
	Impersonation *user  `json:"impersonation"`
}

type user struct {
	Username string `json:"username"`
}

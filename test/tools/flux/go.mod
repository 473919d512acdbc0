// Of these modules the tests read only the definitions.
module edge-operator.dev/tools/flux

go 1.26.0

require (
	github.com/fluxcd/helm-controller v1.4.0
	github.com/fluxcd/kustomize-controller v1.7.2
	github.com/fluxcd/source-controller v1.7.0
)

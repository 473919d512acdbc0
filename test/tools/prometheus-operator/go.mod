// Of this module the tests read only the definitions of ServiceMonitor and PrometheusRule.
module edge-operator.dev/tools/prometheus-operator

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0

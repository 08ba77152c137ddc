package main

import (
	"errors"

	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"

	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/spanmetricsconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/clickhouseexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/prometheusexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/healthcheckextension"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/attributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/tailsamplingprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
)

// components lists what a configuration may name.
//
// The maps are filled by MakeFactoryMap and not written out as literals because
// it also enters a component's former name (spanmetrics beside span_metrics,
// otlphttp beside otlp_http), which users' configurations still contain.
func components() (otelcol.Factories, error) {
	receivers, errReceivers := otelcol.MakeFactoryMap[receiver.Factory](
		otlpreceiver.NewFactory(),
	)
	processors, errProcessors := otelcol.MakeFactoryMap[processor.Factory](
		memorylimiterprocessor.NewFactory(),
		batchprocessor.NewFactory(),
		tailsamplingprocessor.NewFactory(),
		// These two share their largest dependency with tail_sampling, so
		// they add next to nothing to the build.
		attributesprocessor.NewFactory(),
		transformprocessor.NewFactory(),
	)
	connectors, errConnectors := otelcol.MakeFactoryMap[connector.Factory](
		spanmetricsconnector.NewFactory(),
	)
	exporters, errExporters := otelcol.MakeFactoryMap[exporter.Factory](
		otlpexporter.NewFactory(),
		otlphttpexporter.NewFactory(),
		debugexporter.NewFactory(),
		fileexporter.NewFactory(),
		prometheusexporter.NewFactory(),
		clickhouseexporter.NewFactory(),
	)
	extensions, errExtensions := otelcol.MakeFactoryMap[extension.Factory](
		healthcheckextension.NewFactory(),
	)

	return otelcol.Factories{
		Receivers:  receivers,
		Processors: processors,
		Connectors: connectors,
		Exporters:  exporters,
		Extensions: extensions,
		// Without it the service refuses to start, whatever the configuration says.
		Telemetry: otelconftelemetry.NewFactory(),
	}, errors.Join(errReceivers, errProcessors, errConnectors, errExporters, errExtensions)
}

// What an operator gives to `node --import`: a tracer that sends its spans to the collector that the standard variables name.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

// Only the end of the process makes it send before the test gives up.
const processor = new BatchSpanProcessor(new OTLPTraceExporter(), { scheduledDelayMillis: 3_600_000 })
new NodeTracerProvider({ spanProcessors: [processor] }).register()

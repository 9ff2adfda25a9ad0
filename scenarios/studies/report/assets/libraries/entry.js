// What the reports use of the drawing libraries. Each page finds it as the global `libraries`.
// After a change here: npm ci && npm run bundle (docs/report.md).
export * as Plot from "@observablehq/plot";
export {
  axisBottom, axisLeft, axisTop, bisector, brushX, extent, format, max, min, pointer, scaleBand, scaleLinear, scaleOrdinal,
  select, ticks, zoom, zoomIdentity,
} from "d3";

/** Model drivers and models, one per line. */
import type { WireDriver, WireModel } from "../../../abi/methods/model.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

const DRIVERS: ReadonlyArray<Column<WireDriver>> = [
  { head: "DRIVER", align: "left", cell: ({ name }) => safeLine(name) },
  { head: "STATE", align: "left", cell: ({ is_ready }) => (is_ready ? "ready" : "not set up") },
  {
    head: "REMEDY",
    align: "left",
    cell: ({ is_ready, remedy }) => (is_ready || remedy === "" ? "-" : safeLine(remedy)),
  },
];

const MODELS: ReadonlyArray<Column<WireModel>> = [
  { head: "MODEL", align: "left", cell: ({ driver, id }) => safeLine(`${driver}/${id}`) },
  { head: "SHORT", align: "left", cell: ({ short }) => safeLine(short === "" ? "-" : short) },
  { head: "CONTEXT", align: "right", cell: ({ context }) => String(context) },
  { head: "INPUT", align: "right", cell: ({ price }) => rate(price?.input) },
  { head: "OUTPUT", align: "right", cell: ({ price }) => rate(price?.output) },
  { head: "STATE", align: "left", cell: ({ is_ready }) => (is_ready ? "ready" : "not set up") },
];

export function driverTable(drivers: readonly WireDriver[], room?: number): string {
  return table(DRIVERS, drivers, room);
}

export function modelTable(models: readonly WireModel[], room?: number): string {
  return table(MODELS, models, room);
}

/** The price as vendors state it, in USD per million tokens. */
function rate(usd: number | undefined): string {
  return usd === undefined ? "unknown" : `$${usd.toFixed(2)}`;
}

/** The devices of this machine: those that are always there, and those that the user's settings name. */
import type { Clock } from "../../abi/program.ts";
import type { HalDriver } from "../../kernel/ports/hal.ts";
import { fenced } from "./fenced.ts";
import { loopDriver } from "./loop.ts";
import type { Machine } from "./machine.ts";
import { sampledDriver } from "./sampled.ts";

export function halDrivers(
  clock: Pick<Clock, "now" | "mono" | "sleep">,
  machine: Pick<Machine, "system">,
): HalDriver[] {
  const time = () => ({
    at: Math.floor(clock.now()),
    iso: new Date(clock.now()).toISOString(),
    monoMs: Math.floor(clock.mono()),
  });
  const drivers = [
    sampledDriver({ id: "system/metrics", name: "metrics of the machine" }, clock, () => machine.system()),
    sampledDriver({ id: "system/clock", name: "clock" }, clock, time),
    loopDriver("virtual/loop0"),
  ];
  return drivers.map(fenced);
}

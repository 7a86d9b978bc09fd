/** The devices of this machine: those that are always there, and those that the user's settings name. */
import type { Clock } from "../../abi/program.ts";
import type { DeviceSetting } from "../../abi/settings/devices.ts";
import type { HalDriver } from "../../kernel/ports/hal.ts";
import { charDriver, serialDriver } from "./char.ts";
import { fenced } from "./fenced.ts";
import { folderDriver } from "./folder.ts";
import { framesDriver } from "./frames.ts";
import { loopDriver } from "./loop.ts";
import type { Machine } from "./machine.ts";
import { sampledDriver } from "./sampled.ts";

export function halDrivers(
  clock: Pick<Clock, "now" | "mono" | "sleep">,
  machine: Pick<Machine, "system">,
  named: readonly DeviceSetting[] = [],
): HalDriver[] {
  const time = () => ({
    at: Math.floor(clock.now()),
    iso: new Date(clock.now()).toISOString(),
    monoMs: Math.floor(clock.mono()),
  });
  const drivers: HalDriver[] = [
    sampledDriver({ id: "system/metrics", name: "metrics of the machine" }, clock, () => machine.system()),
    sampledDriver({ id: "system/clock", name: "clock" }, clock, time),
    loopDriver("virtual/loop0"),
  ];
  const taken = new Set(drivers.map(({ identity }) => identity.id));
  for (const each of named) {
    if (taken.has(each.id)) continue;
    taken.add(each.id);
    drivers.push(driverOf(each, clock));
  }
  return drivers.map(fenced);
}

function driverOf(device: DeviceSetting, clock: Pick<Clock, "now" | "mono" | "sleep">): HalDriver {
  switch (device.driver) {
    case "folder":
      return folderDriver(device, clock);
    case "frames":
      return framesDriver(device, clock);
    case "loop":
      return loopDriver(device.id);
    case "char":
      return charDriver(device, clock);
    case "serial":
      return serialDriver(device, clock);
  }
}

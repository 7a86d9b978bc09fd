import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { tempFolder } from "../testing.ts";
import { battery, Machine } from "./machine.ts";

describe("Machine", () => {
  it("reads shares between 0 and 1, and sizes that fit together, at most once a second", async () => {
    const clock = new VirtualClock();
    const machine = new Machine(clock, tempFolder());
    const first = machine.read();
    const { cpu, memory, disk } = first;
    expect([cpu.usage, ...cpu.perCore].every((share) => share >= 0 && share <= 1)).toBe(true);
    expect(cpu.perCore).toHaveLength(cpu.count);
    expect(memory.usedBytes + memory.availableBytes).toBe(memory.totalBytes);
    expect(disk.totalBytes).toBeGreaterThan(disk.freeBytes);
    expect(machine.read()).toBe(first);
    await clock.advance(1_000);
    expect(machine.read()).not.toBe(first);
  });
});

describe("battery()", () => {
  const place = (files: Readonly<Record<string, string>>): string => {
    const folder = tempFolder();
    mkdirSync(join(folder, "BAT0"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "BAT0", name), `${text}\n`);
    return folder;
  };

  it("is null without one", () => {
    expect(battery(join(tempFolder(), "none"))).toBeNull();
    expect(battery(place({ type: "Mains" }))).toBeNull();
  });

  it("shows the level, and the time left while it empties", () => {
    const files = { type: "Battery", capacity: "40", energy_now: "20000000", power_now: "10000000" };
    expect(battery(place({ ...files, status: "Discharging" }))).toEqual({
      level: 0.4,
      charging: false,
      secondsLeft: 7_200,
    });
    expect(battery(place({ ...files, status: "Charging" }))).toMatchObject({
      charging: true,
      secondsLeft: null,
    });
  });
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseSeat, findSeats, findStranger, seatTaken } from "./seat.ts";

let dir = "";
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-seat-")));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const seats = (env: Record<string, string> = {}, home = `${dir}/home`) => findSeats(env, 7, home, dir);
const state = () => `${dir}/home/.local/state/crux`;
function own(stateDir: string): void {
  mkdirSync(`${dir}/crux-7`, { recursive: true });
  writeFileSync(`${dir}/crux-7/crux.owner`, JSON.stringify({ pid: 4711, stateDir }));
}

describe("findSeats()", () => {
  it("is the usual socket, and one below it in a folder of the state directory", () => {
    const { usual, own: below = "" } = seats();
    expect(usual).toBe(`${dir}/crux-7/crux.sock`);
    expect(below).toMatch(/\/crux-7\/[0-9a-f]{8}\/crux\.sock$/);
    expect(seats({}, "/elsewhere").own).not.toBe(below);
    expect(seats({ XDG_RUNTIME_DIR: "/run/user/7" }).own).toMatch(/^\/run\/user\/7\/crux\/[0-9a-f]{8}\//);
  });

  it("is the same for two spellings of one state directory", () => {
    mkdirSync(state(), { recursive: true });
    symlinkSync(`${dir}/home`, `${dir}/link`);
    expect(seats({}, `${dir}/link`)).toEqual(seats());
  });

  it("is one alone where the user names it, and where a longer path is not possible", () => {
    expect(seats({ CRUX_SOCKET: "/x/s" })).toEqual({ usual: "/x/s", own: undefined, isGiven: true });
    expect(seats({ XDG_RUNTIME_DIR: `/${"x".repeat(88)}` }).own).toBeUndefined();
  });
});

describe("chooseSeat()", () => {
  it("is the usual one while nobody, or this state directory's daemon, has it", () => {
    expect(chooseSeat(seats(), state())).toBe(seats().usual);
    own(state());
    expect(chooseSeat(seats(), state())).toBe(seats().usual);
    expect(findStranger(`${dir}/crux-7`, state())).toBeUndefined();
  });

  it("is the one below while another has the usual one, or this one's daemon is there", () => {
    const below = seats().own ?? "";
    own("/other");
    expect(chooseSeat(seats(), state())).toBe(below);
    expect(findStranger(`${dir}/crux-7`, state())).toEqual({ pid: 4711, stateDir: "/other" });
    rmSync(`${dir}/crux-7/crux.owner`);
    mkdirSync(dirname(below), { recursive: true });
    writeFileSync(below, "");
    expect(chooseSeat(seats(), state())).toBe(below);
  });

  it("is what the user named, whoever has it", () => {
    own("/other");
    const path = `${dir}/crux-7/crux.sock`;
    expect(chooseSeat(seats({ CRUX_SOCKET: path }), state())).toBe(path);
  });
});

it("seatTaken() names the other daemon and the ways out", () => {
  const { code, message, hint } = seatTaken("/run/crux", {
    pid: 4711,
    stateDir: "/home/b/.local/state/crux",
  });
  expect([code, message]).toEqual([
    "CONFLICT",
    "/run/crux is in use by the daemon (PID 4711) of /home/b/.local/state/crux, which has other settings and agents",
  ]);
  expect(hint).toMatch(/XDG_RUNTIME_DIR.*CRUX_SOCKET.*crux daemon stop/);
});

import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPrivateFile } from "../directory.ts";
import type { Entry } from "../journal/ledger.ts";
import { RESERVE_BYTES, spaceOf } from "../journal/room.ts";
import { PROC } from "../journal/testing/bench.ts";
import type { Clerk } from "./clerk.ts";
import { databasePath, openClerk, openDatabase } from "./open-database.ts";
import { claimSchema } from "./schema.ts";

const entry = (body: string): Entry => ({
  ...{ proc: PROC, pid: 1, kind: "signal", v: 1, call: null, at: 0, mono: 0, body },
  ...{ fact: null, names: [], blobs: [] },
});

describe("Clerk", () => {
  let dir: string;
  let clerk: Clerk;
  let ms = 0;
  const reserve = () => join(dir, "reserve");
  const open = (maxBytes: number) => {
    createPrivateFile(dir, databasePath(dir));
    const db = openDatabase(dir);
    const identity = claimSchema(db, databasePath(dir));
    db.close();
    clerk = openClerk(dir, identity, { maxBytes, onNotice: () => {}, mono: () => ms });
  };
  const commit = async (mode: "normal" | "reserve" | "retry", size = 1) => {
    await clerk.commit([{ entries: [entry(JSON.stringify("x".repeat(size)))] }], mode);
    clerk.maintain();
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "crux-clerk-"));
  });
  afterEach(() => {
    clerk.close();
    rmSync(dir, { recursive: true });
  });

  test("makes the reserve where there is room, in small parts, and gives it up when the disk is full", async ({
    skip,
  }) => {
    const space = spaceOf(tmpdir());
    skip(space === null || space.freeBytes < 1024 ** 3, "there is too little room here");
    open(1024 ** 3);
    await commit("normal");
    expect(existsSync(reserve())).toBe(false);
    ms += 5_000;
    await commit("normal");
    expect(statSync(reserve()).size).toBe(1024 * 1024);
    for (let n = 0; n < 20; n++) await commit("normal");
    expect(statSync(reserve()).size).toBe(RESERVE_BYTES);
    await commit("reserve");
    expect(existsSync(reserve())).toBe(false);
  });

  test("tries to make the reserve again only when it looks again, where the disk takes less than it says", async ({
    skip,
  }) => {
    const space = spaceOf(tmpdir());
    skip(space === null || space.freeBytes < 1024 ** 3, "there is too little room here");
    open(1024 ** 3);
    mkdirSync(join(reserve(), "in the way"), { recursive: true });
    ms += 5_000;
    await commit("normal");
    rmSync(reserve(), { recursive: true });
    await commit("normal");
    expect(existsSync(reserve())).toBe(false);
    ms += 5_000;
    await commit("normal");
    expect(statSync(reserve()).size).toBe(1024 * 1024);
  });

  test("lets only what may use the reserve pass the limit, and retries only with room to go on", async () => {
    open(400_000);
    const full = { reason: "journal_full", room: { freeBytes: expect.any(Number), needBytes: 50_000 } };
    await expect(commit("normal", 500_000)).rejects.toMatchObject(full);
    await commit("retry", 10);
    await commit("normal", 200_000);
    await expect(commit("normal", 200_000)).rejects.toMatchObject(full);
    await commit("reserve", 200_000);
    await expect(commit("retry", 1)).rejects.toMatchObject(full);
    await expect(commit("normal", 20_000)).rejects.toMatchObject(full);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Device } from "../../abi/device.ts";
import { printed } from "../../abi/errors.ts";
import { asPid } from "../../abi/ids.ts";
import { ByteDevice, brokenDevice } from "../testing/fake-devices.ts";
import { DeviceRegistry } from "./registry.ts";

function registry(...mounts: string[]): DeviceRegistry {
  const made = new DeviceRegistry();
  for (const mount of mounts) made.register(mount, new ByteDevice());
  return made;
}

const found = (devices: DeviceRegistry, path: string): string => {
  try {
    const { mount, subpath } = devices.resolve(path, "Open", asPid(1));
    return `${mount} ${subpath}`.trimEnd();
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("resolve()", () => {
  const devices = registry("/dev/fs", "/dev/fs/deep/er", "/dev/null");

  test.each([
    ["/dev/fs", "/dev/fs"],
    ["/dev/fs/", "/dev/fs"],
    ["/dev/fs/a", "/dev/fs /a"],
    ["//dev///fs//a/", "/dev/fs /a"],
    ["/dev/fsx", "NOT_FOUND"],
    ["/dev", "NOT_FOUND"],
    ["/", "NOT_FOUND"],
    ["/dev/fs/deep", "/dev/fs /deep"],
    ["/dev/fs/deep/er/x", "/dev/fs/deep/er /x"],
    ["/dev/fs/deep/erx", "/dev/fs /deep/erx"],
    ["/dev/fs/./a", "/dev/fs /./a"],
    ["/dev/fs/././a", "/dev/fs /./a"],
    ["/dev/fs/.", "/dev/fs /."],
    ["/dev/./fs/a", "/dev/fs /a"],
    ["/dev/fs/a/./b/.", "/dev/fs /a/b"],
    ["/dev/fs/.a/..b", "/dev/fs /.a/..b"],
    ["/dev/fs/../null", "INVALID"],
    ["/dev/fs/a/..", "INVALID"],
    ["/dev/fs/\0", "INVALID"],
    ["dev/fs", "INVALID"],
    ["", "INVALID"],
    [`/dev/fs/${"a".repeat(4_088)}`, `/dev/fs /${"a".repeat(4_088)}`],
    [`/dev/fs/${"a".repeat(4_089)}`, "INVALID"],
    [`/dev/fs/${"é".repeat(2_045)}`, "INVALID"],
  ])("%s", (path, expected) => {
    expect(found(devices, path)).toBe(expected);
  });

  test("says what it did not find", () => {
    const error = (() => {
      try {
        return devices.resolve("/dev/unknown", "Open", asPid(1));
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(printed(error)).toBe("[NOT_FOUND] PID 1 Open: /dev/unknown (device not found: /dev/unknown)");
  });

  test("finds what a naive search for the longest boundary finds", () => {
    const segment = fc.constantFrom("a", "b", "ab", "a.b", "aé");
    const mount = fc.array(segment, { minLength: 1, maxLength: 4 }).map((s) => `/${s.join("/")}`);
    const noise = fc.constantFrom("", "", ".", ".", "..", "\0", "a\0", "...", "x".repeat(1_400));
    const piece = fc.oneof({ weight: 9, arbitrary: segment }, { weight: 2, arbitrary: noise });
    const spelt = fc.array(piece, { maxLength: 7 }).map((s) => `/${s.join("/")}`);
    const wanted = fc.oneof(
      { weight: 9, arbitrary: spelt },
      { weight: 1, arbitrary: fc.array(piece, { maxLength: 3 }).map((s) => s.join("/")) },
    );
    fc.assert(
      fc.property(fc.uniqueArray(mount, { maxLength: 6 }), wanted, (mounts, path) => {
        expect(found(registry(...mounts), path)).toBe(naively(mounts, path));
      }),
      { numRuns: 10_000 },
    );
  });
});

/** Text and nothing else: each rule of the chapter is a replacement. */
function naively(mounts: readonly string[], path: string): string {
  if (!path.startsWith("/") || path.includes("\0") || `${path}/`.includes("/../")) return "INVALID";
  if (Buffer.from(path, "utf8").length > 4_096) return "INVALID";
  const written = `${path}/`.replaceAll(/\/+/g, "/");
  const plain = withoutDots(written);
  const best = mounts.filter((mount) => plain.startsWith(`${mount}/`)).sort((x, y) => y.length - x.length)[0];
  if (best === undefined) return "NOT_FOUND";
  // where the mount point ends in what was written: the longest beginning that is nothing but it and dots
  const ends = [...written.matchAll(/\//g)].map(({ index }) => index + 1);
  const dotted = ends.filter((end) => withoutDots(written.slice(0, end)) === `${best}/`);
  const rest = plain.slice(best.length, -1);
  return `${best} ${dotted.length > 1 ? "/." : ""}${rest}`.trimEnd();
}

function withoutDots(text: string): string {
  const without = text.replace("/./", "/");
  return without === text ? text : withoutDots(without);
}

describe("register()", () => {
  test("a taken path is CONFLICT, in any spelling", () => {
    const devices = registry("/dev/fs");
    for (const path of ["/dev/fs", "/dev//fs/", "/dev/./fs"])
      expect(() => devices.register(path, brokenDevice())).toThrow(
        expect.objectContaining({ code: "CONFLICT" }),
      );
  });

  test("what is no path, or the root, is INVALID", () => {
    for (const path of ["", "dev", "/", "/a/../b"])
      expect(() => registry().register(path, brokenDevice())).toThrow(
        expect.objectContaining({ code: "INVALID" }),
      );
  });

  test("unregister() frees the path; twice is NOT_FOUND", () => {
    const devices = registry("/a", "/b");
    devices.unregister("/a/");
    expect(devices.list()).toEqual(["/b"]);
    expect(() => devices.unregister("/a")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  });
});

describe("close()", () => {
  test("reaches every device once, past those that fail", async () => {
    const devices = registry();
    const closed: string[] = [];
    const device = (name: string, fail?: () => void): Device => ({
      ...brokenDevice(),
      close: () => {
        closed.push(name);
        fail?.();
        return Promise.reject(new Error(name));
      },
    });
    const twice = device("twice");
    devices.register("/a", twice);
    devices.register("/b", twice);
    devices.register(
      "/c",
      device("throws", () => {
        throw new Error("at once");
      }),
    );
    devices.register("/d", device("last"));
    await devices.close();
    expect(closed).toEqual(["twice", "throws", "last"]);
    expect(devices.list()).toEqual([]);
  });
});

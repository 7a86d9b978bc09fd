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
    const segment = fc.constantFrom("a", "b", "ab", "a.b");
    const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((s) => `/${s.join("/")}`);
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 6 }), path, (mounts, wanted) => {
        const best = mounts
          .filter((mount) => wanted === mount || wanted.startsWith(`${mount}/`))
          .sort((x, y) => y.length - x.length)[0];
        const expected = best === undefined ? "NOT_FOUND" : `${best} ${wanted.slice(best.length)}`.trimEnd();
        expect(found(registry(...mounts), wanted)).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });
});

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

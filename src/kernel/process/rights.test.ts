import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isWithin } from "../../lib/path.ts";
import { ByteDevice } from "../testing/fake-devices.ts";
import { agentFile, testKernel } from "../testing/test-kernel.ts";
import { intersect } from "./rights.ts";

const path = fc
  .array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 3 })
  .map((segments) => `/${segments.join("/")}`);
const list = fc.oneof(fc.constant(null), fc.array(path, { maxLength: 4 }));
const may = (allowed: readonly string[] | null, mount: string): boolean =>
  allowed === null || allowed.some((base) => isWithin(base, mount));

describe("intersect()", () => {
  test("allows exactly what both allow: it only narrows", () => {
    fc.assert(
      fc.property(list, list, path, (parent, wish, mount) => {
        expect(may(intersect(parent, wish), mount)).toBe(may(parent, mount) && may(wish, mount));
      }),
      { numRuns: 10_000 },
    );
  });

  test("nothing in common is nothing, not everything", () => {
    expect(intersect(["/dev/fs"], ["/dev/shell"])).toEqual([]);
    expect(intersect([], null)).toEqual([]);
  });
});

describe("allowedDevices", () => {
  const narrowed = async () => {
    const t = testKernel();
    for (const mount of ["/dev/fs", "/dev/fsx", "/dev/shell", "/proc", "/bin", "/var/out"])
      t.kernel.mount(mount, new ByteDevice());
    return { t, ...(await t.start({ agent: agentFile({ allowedDevices: ["/dev/fs"] }) })) };
  };

  test.each([
    "/dev/fs",
    "/dev/fs/a",
    "/bin/ls",
    "/var/out/x",
    "/dev/llm/fake",
    "/proc/self/status",
    "/proc/1",
  ])("%s opens", async (path) => {
    const { sys } = await narrowed();
    expect(await sys.open(path, 0)).toBe(4);
    await sys.stat(path);
  });

  test.each(["/dev/fsx", "/dev/shell", "/proc/2/status", "/proc/12", "/proc/selfish", "/proc"])(
    "%s is PERMISSION, for open and stat",
    async (path) => {
      const { sys } = await narrowed();
      await expect(sys.open(path, 0)).rejects.toMatchObject({ code: "PERMISSION", device: path });
      await expect(sys.stat(path)).rejects.toMatchObject({ code: "PERMISSION", device: path });
    },
  );

  test("an empty list leaves the process its own", async () => {
    const t = testKernel();
    t.kernel.mount("/dev/fs", new ByteDevice());
    const { sys } = await t.start({ agent: agentFile({ allowedDevices: [] }) });
    await expect(sys.open("/dev/fs", 0)).rejects.toMatchObject({ code: "PERMISSION" });
    expect(await sys.open("/dev/llm/fake", 2)).toBe(4);
  });
});

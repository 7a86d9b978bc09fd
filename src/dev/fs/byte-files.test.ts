import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { actOf, callerIn, readAll, tempFolder } from "../testing.ts";
import { fsForTests } from "./testing.ts";

const { device } = fsForTests();

describe("/dev/fs opened for writing", () => {
  it("puts the bytes in place at close, and not before", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "old");
    const file = await device.open("/./a", 1, callerIn(root));
    await file.write(Buffer.from("ne"), actOf());
    await file.write(Buffer.from("w"), actOf());
    expect(readFileSync(join(root, "a"), "utf8")).toBe("old");
    await file.close();
    expect(readFileSync(join(root, "a"), "utf8")).toBe("new");
    expect(readdirSync(root)).toEqual(["a"]);
  });

  it("leaves the old file after an abort of a write or of the process", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "old");
    const cut = await device.open("/./a", 1, callerIn(root));
    await cut.write(Buffer.from("new"), actOf());
    await expect(cut.write(Buffer.from("er"), actOf(AbortSignal.abort()))).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await cut.close();
    const end = new AbortController();
    const killed = await device.open("/./a", 1, callerIn(root, { signal: end.signal }));
    await killed.write(Buffer.from("new"), actOf());
    end.abort();
    await killed.close();
    expect(readFileSync(join(root, "a"), "utf8")).toBe("old");
    expect(readdirSync(root)).toEqual(["a"]);
  });

  it("a closed file takes no more, and a read of it is INVALID", async () => {
    const root = tempFolder();
    const file = await device.open("/./a", 1, callerIn(root));
    await expect(readAll(file)).rejects.toMatchObject({ code: "INVALID" });
    await file.close();
    await expect(file.write(Buffer.from("x"), actOf())).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

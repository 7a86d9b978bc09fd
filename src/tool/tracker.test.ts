import { expect, test } from "vitest";
import { LooseTracker } from "./tracker.ts";

test("LooseTracker forgets the least recently used path beyond 1,000", () => {
  const tracker = new LooseTracker();
  for (let i = 0; i < 1000; i++) tracker.set(`/${i}`, { sha256: `${i}`, source: "view" });
  tracker.get("/0");
  tracker.set("/new", { sha256: "", source: "write" });
  expect(tracker.has("/0")).toBe(true);
  expect(tracker.has("/1")).toBe(false);
  expect(tracker.has("/2")).toBe(true);
});

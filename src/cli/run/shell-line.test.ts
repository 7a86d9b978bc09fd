import { expect, test } from "vitest";
import { Excerpt } from "./shell-line.ts";

test("an Excerpt has the begin and the end of a text, and counts what is between them", () => {
  const short = new Excerpt();
  for (const part of ["a\n", "b"]) short.add(part);
  expect(short.text).toBe("a\nb");
  const long = new Excerpt();
  for (let n = 0; n < 100; n++) long.add(String(n % 10).repeat(1_000));
  expect(long.text.length).toBeLessThan(31_000);
  expect(long.text).toMatch(/^0{1000}1{1000}/);
  expect(long.text).toMatch(/\n… 70000 characters more …\n0{1000}.*9{1000}$/);
});

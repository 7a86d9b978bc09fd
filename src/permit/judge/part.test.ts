import { expect, test } from "vitest";
import { findRepository } from "./part.ts";

const among = (...paths: string[]) => {
  const there = new Set(paths);
  return (path: string) => there.has(path);
};

test("findRepository() goes up to the nearest one", () => {
  const exists = among("/a/.git", "/a/b/c/.git");
  expect(findRepository("/a/b/c/d", exists)).toEqual({ root: "/a/b/c", isBare: false });
  expect(findRepository("/a/b", exists)).toEqual({ root: "/a", isBare: false });
  expect(findRepository("/x/y", exists)).toBeNull();
  for (const path of ["", ".", "x/y"]) expect(findRepository(path, exists)).toBeNull();
});

test("findRepository() takes a folder with a HEAD for a bare one, but the .git of a repository", () => {
  expect(findRepository("/a/b/sub", among("/a/.git", "/a/b/HEAD"))).toEqual({ root: "/a/b", isBare: true });
  expect(findRepository("/a/.git", among("/a/.git", "/a/.git/HEAD"))).toEqual({
    root: "/a/.git",
    isBare: false,
  });
});

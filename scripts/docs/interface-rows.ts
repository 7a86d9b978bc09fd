/** An interface of the source as rows of a table: its fields, their types as written, and the comments above them. */
import { readFileSync } from "node:fs";
import { parseSync, Visitor } from "oxc-parser";

export interface FieldRow {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  readonly meaning: string;
}

/** `file` inside src/. What the interface extends is read too, where the same file has it. */
export function readInterface(file: string, name: string): readonly FieldRow[] {
  const rows = ownRows(file, name);
  if (rows.length === 0) throw new Error(`src/${file} has no interface ${name}`);
  return rows;
}

function ownRows(file: string, name: string): readonly FieldRow[] {
  const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");
  const { program, comments } = parseSync(file, text, { lang: "ts" });
  const rows: FieldRow[] = [];
  new Visitor({
    TSInterfaceDeclaration: ({ id, body, extends: bases }) => {
      if (id.name !== name) return;
      for (const { expression } of bases)
        if (expression.type === "Identifier") rows.push(...ownRows(file, expression.name));
      for (const member of body.body) {
        if (member.type !== "TSPropertySignature" || member.key.type !== "Identifier") continue;
        const above = comments.find(
          ({ start, end }) =>
            start > body.start && end < member.start && text.slice(end, member.start).trim() === "",
        );
        const { start = 0, end = 0 } = member.typeAnnotation?.typeAnnotation ?? {};
        rows.push({
          name: member.key.name,
          type: text.slice(start, end).replaceAll("readonly ", "").replaceAll(/\s+/g, " "),
          isOptional: member.optional,
          meaning: above?.value.slice(1).trim() ?? "",
        });
      }
    },
  }).visit(program);
  return rows;
}

/** A union of object types, each told by its `event`: the event, and its other fields as written. */
export function readEvents(
  file: string,
  name: string,
): readonly (readonly [event: string, fields: string])[] {
  const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");
  const events: [string, string][] = [];
  new Visitor({
    TSTypeAliasDeclaration: ({ id, typeAnnotation }) => {
      if (id.name !== name || typeAnnotation.type !== "TSUnionType") return;
      for (const each of typeAnnotation.types) {
        const [, event = "", fields = ""] =
          /^\{ event: "(\w+)"; (.*) \}$/.exec(text.slice(each.start, each.end)) ?? [];
        events.push([event, fields]);
      }
    },
  }).visit(parseSync(file, text, { lang: "ts" }).program);
  if (events.length === 0) throw new Error(`src/${file} has no union ${name}`);
  return events;
}

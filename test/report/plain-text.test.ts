import { expect, test } from "vitest";
import {
  ago,
  displayWidth,
  harmless,
  nameOf,
  pad,
  plural,
  reasonWords,
  shellWord,
  shortenMiddle,
  size,
  wrap,
  jsonText,
} from "../../src/report/plain-text.ts";
import { reason } from "./samples.ts";

test.each([
  ["escape", "\u001b[31mred", "\\x1b[31mred"],
  ["line break", "a\nb", "a\\nb"],
  ["tab", "a\tb", "a\\tb"],
  ["carriage return and bell", "a\r\u0007", "a\\x0d\\x07"],
  ["NUL and DEL", "\u0000\u007f", "\\x00\\x7f"],
  ["C1 control sequence introducer", "\u009b2J", "\\x9b2J"],
  ["right-to-left override", "a\u202egnp", "a\\u202egnp"],
  ["isolates", "\u2066a\u2069", "\\u2066a\\u2069"],
  ["zero width", "a\u200bb\u200db\ufeff", "a\\u200bb\\u200db\\ufeff"],
  ["line and paragraph separators", "a\u2028b\u2029", "a\\u2028b\\u2029"],
  ["soft hyphen and Hangul filler", "a\u00ad\u3164", "a\\xad\\u3164"],
  ["interlinear annotation", "a\ufff9b", "a\\ufff9b"],
  ["tag characters", "a\u{e0041}", "a\\u{e0041}"],
  ["half a surrogate pair", "a\ud800", "a\\ud800"],
])("shows as an escape what could steer a terminal or hide: %s", (_, text, shown) => {
  expect(harmless(text)).toBe(shown);
});

test.each(["fix-login", "面白い-実験", "naïve Straße", "Ελληνικά", "שלום", "🎉", "a › b"])(
  "leaves %s as it is",
  (text) => {
    expect(harmless(text)).toBe(text);
  },
);

test.each([
  ["2026-01-31/ws/a1", "2026-01-31/ws/a1"],
  ["ws/a;curl${IFS}x|sh", "'ws/a;curl${IFS}x|sh'"],
  ["it's", "'it'\\''s'"],
  ["$(x)", "'$(x)'"],
  ["", "''"],
])("makes %j one word of a command", (text, word) => {
  expect(shellWord(text)).toBe(word);
});

test.each([
  [0, false, "0 B"],
  [36_864, false, "36 KiB"],
  [5_800_000_000, false, "5.4 GiB"],
  [5_800_000_000, true, "≥ 5.4 GiB"],
])("shows %i bytes (floor: %s) in binary units", (bytes, isFloor, shown) => {
  expect(size(bytes, isFloor)).toBe(shown);
});

test("shows a size that is not known as such", () => {
  expect([size(null), size(null, true)]).toEqual(["?", "?"]);
});

test("puts a noun in the number that it has", () => {
  expect([plural(1, "worktree"), plural(2, "worktree"), plural(0, "entry", "entries")]).toEqual([
    "1 worktree",
    "2 worktrees",
    "0 entries",
  ]);
});

test.each([
  [0, "just now"],
  [59, "just now"],
  [-3600, "just now"],
  [60, "1 minute ago"],
  [7199, "1 hour ago"],
  [7200, "2 hours ago"],
  [3 * 86_400, "3 days ago"],
  [45 * 86_400, "1 month ago"],
  [800 * 86_400, "2 years ago"],
])("says how long ago %i seconds are", (seconds, words) => {
  const now = new Date("2026-01-31T12:00:00Z");
  expect(ago(new Date(now.getTime() - seconds * 1000), now)).toBe(words);
});

test("counts the columns of wide, combined and coloured text", () => {
  expect(["abc", "面白い", "e\u0301", "🎉", "\u001b[31mred\u001b[39m"].map(displayWidth)).toEqual([3, 6, 1, 2, 3]);
});

test("fills up by columns, on either side", () => {
  expect([pad("面白", 6), pad("ab", 4, "left"), pad("abcdef", 4)]).toEqual(["面白  ", "  ab", "abcdef"]);
});

test.each([
  ["abcdef", 6, "abcdef"],
  ["abcdefg", 6, "abc…fg"],
  ["面白い-実験", 7, "面白…験"],
  ["abc", 1, "…"],
  ["abc", 0, ""],
])("shortens %s to %i columns in its middle", (text, width, shown) => {
  expect(shortenMiddle(text, width)).toBe(shown);
});

test.each([1, 2, 3, 5, 8, 13])("never takes more than %i columns, and cuts no character in two", (width) => {
  for (const text of ["refactor-billing", "面白い実験面白い実験", "e\u0301e\u0301e\u0301e\u0301", "🎉🎉🎉🎉🎉🎉🎉🎉"]) {
    const short = shortenMiddle(text, width);
    expect(displayWidth(short)).toBeLessThanOrEqual(width);
    expect(short).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])|(^|…)\u0301/);
  }
});

test("breaks a text at its blanks, and shortens a word that fits no line", () => {
  expect(wrap("one two three four", 9)).toEqual(["one two", "three", "four"]);
  expect(wrap("see /a/very/long/path now", 10)).toEqual(["see", "/a/ve…path", "now"]);
});

test("leaves a word whole that fits no line, where it is asked to", () => {
  expect(wrap("see /a/very/long/path now", 10, "whole")).toEqual(["see", "/a/very/long/path", "now"]);
});

test("makes one line of a text for a pipe", () => {
  expect(wrap("one two three four", null)).toEqual(["one two three four"]);
});

test.each([
  [".claude/worktrees/a1", "a1"],
  [".claude/worktrees/a1/.claude/worktrees/n1", "a1 › n1"],
  [".claude/worktrees/a\u001b", "a\\x1b"],
])("calls the worktree at %j by its name", (path, name) => {
  expect(nameOf(path)).toBe(name);
});

test.each([
  [
    "ignored",
    "1 ignored file (4096 bytes) that exists nowhere else",
    "1 ignored file, 4 KiB, that exists nowhere else",
  ],
  ["nested", "one entry inside it stays: .claude/worktrees/a/.claude/worktrees/b", "one entry inside it stays: a › b"],
  ["locked", "git holds it locked: 1 ignored file (4096 bytes)", "git holds it locked: 1 ignored file (4096 bytes)"],
  ["live-registration", "/ws/.claude/worktrees/a exists", "/ws/.claude/worktrees/a exists"],
])("tells %s in words that people read", (code, detail, words) => {
  expect(reasonWords(reason(code, detail))).toBe(words);
});

test("JSON holds nothing that steers a terminal, and the same data", () => {
  const data = { a: "\u001B[2J\u009B31m\u202E\n\u2028 ünï 😀 \u{E0041}", b: ["\u007F"] };
  const text = jsonText(data);
  expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028\u202E]|\u{E0041}/u);
  expect(JSON.parse(text)).toEqual(data);
});

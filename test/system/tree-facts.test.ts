import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  copyFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type BuildOptions } from "esbuild";
import { dir, setGracefulCleanup } from "tmp-promise";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Identity } from "../../src/model/worktree.ts";
import { Programs } from "../../src/system/programs.ts";
import { createNodeTreeReader, createTreeReader, Weight, type TreeReader } from "../../src/system/tree-facts.ts";

setGracefulCleanup();

const programs = new Programs(process.env["PATH"], "/nonexistent");
const SYSTEM = fileURLToPath(new URL("../../src/system", import.meta.url));
const isLinux = process.platform === "linux";
const isRoot = process.geteuid?.() === 0;

/** Makes one file that runs by itself, as the shipped `dl` is. */
async function bundle(source: Pick<BuildOptions, "entryPoints" | "stdin">, outfile: string): Promise<void> {
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };
  await build({ ...source, bundle: true, platform: "node", format: "esm", outfile, banner });
}

async function temporary(): Promise<string> {
  const { path } = await dir({ unsafeCleanup: true });
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

function write(path: string, bytes: string | number = "x"): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof bytes === "number" ? Buffer.alloc(bytes, 7) : bytes);
  return path;
}

function identity(path: string): Identity {
  const { dev, ino } = lstatSync(path);
  return { device: dev, inode: ino };
}

/** The plainest way to count SPEC §5, to hold the readers against. */
function oracle(tree: string, without: readonly string[] = []): number {
  const files = new Map<bigint, { links: bigint; seen: bigint; bytes: bigint }>();
  let bytes = 0n;
  const visit = (path: Buffer): void => {
    const stats = lstatSync(path, { bigint: true });
    if (without.includes(path.toString())) return;
    if (stats.isDirectory()) {
      bytes += stats.blocks * 512n;
      for (const name of readdirSync(path, { encoding: "buffer" }))
        visit(Buffer.concat([path, Buffer.from("/"), name]));
      return;
    }
    const file = files.get(stats.ino) ?? { links: stats.nlink, seen: 0n, bytes: stats.blocks * 512n };
    files.set(stats.ino, { ...file, seen: file.seen + 1n });
  };
  visit(Buffer.from(tree));
  for (const file of files.values()) if (file.seen === file.links) bytes += file.bytes;
  return Number(bytes);
}

/** Links inside, across two parts, and to the outside; sparse and big files, links, a FIFO, and names that no one likes. */
function makeHardTree(root: string): { readonly tree: string; readonly nested: string } {
  const tree = join(root, "-rf tree");
  const nested = join(tree, ".claude/worktrees/n1");
  write(join(tree, "big.bin"), 3_000_000);
  write(join(tree, "src/a/b/c/deep.ts"), 5000);
  mkdirSync(join(tree, "empty"), { recursive: true });
  for (let i = 0; i < 300; i++) write(join(tree, "many", `file-${i}`), i * 40);

  write(join(tree, "inside-1"), 20_000);
  linkSync(join(tree, "inside-1"), join(tree, "src/inside-2"));
  linkSync(join(tree, "inside-1"), join(tree, "src/a/inside-3"));
  write(join(root, "store/outside"), 40_000);
  linkSync(join(root, "store/outside"), join(tree, "outside"));
  linkSync(join(root, "store/outside"), join(tree, "src/outside"));
  write(join(nested, "across"), 60_000);
  linkSync(join(nested, "across"), join(tree, "across"));
  for (let i = 0; i < 200; i++)
    linkSync(write(join(root, "store", String(i)), 100 * i), join(tree, "many", `linked-${i}`));

  const sparse = openSync(write(join(tree, "sparse")), "r+");
  ftruncateSync(sparse, 50_000_000);
  closeSync(sparse);
  symlinkSync("/", join(tree, "root-link"));
  symlinkSync("x".repeat(300), join(tree, "long-link"));
  linkSync(join(tree, "long-link"), join(tree, "long-link-again"));
  spawnSync("mkfifo", [join(tree, "fifo")]);

  for (const name of ["new\nline", "-printf", "quo'te\"", "tab\there", "back\\slash", "é", "* ?[a]", " "]) {
    write(join(tree, "odd", name, name), 9000);
  }
  if (isLinux) {
    const name = Buffer.concat([Buffer.from(`${tree}/odd/`), Buffer.from([0xff, 0xfe, 0x41])]);
    mkdirSync(name);
    writeFileSync(Buffer.concat([name, Buffer.from("/"), Buffer.from([0x80])]), Buffer.alloc(12_345));
  }
  return { tree, nested };
}

/** Node 20 cannot load the sources into a thread, so its program is built first. */
const walkWorker = join(mkdtempSync(join(tmpdir(), "dl-walk-worker-")), "walk-worker.mjs");
beforeAll(() => bundle({ entryPoints: [join(SYSTEM, "tree/walk-worker.ts")] }, walkWorker));
afterAll(() => rm(dirname(walkWorker), { recursive: true, force: true }));

describe.each<[string, () => Promise<TreeReader>]>([
  ["the reader of this machine", () => createTreeReader(programs)],
  ["the reader that needs no program, in threads", async () => createNodeTreeReader(pathToFileURL(walkWorker))],
  ["the reader that needs no program, where the threads' is missing", async () => createNodeTreeReader()],
])("%s", (_, create) => {
  test("weighs what removing the tree gives back, to the byte", async () => {
    const { tree } = makeHardTree(await temporary());
    const reader = await create();
    const facts = await reader.read(tree);
    expect(facts.weight.bytes).toBe(oracle(tree));
    expect((await reader.weigh(tree)).bytes).toBe(oracle(tree));
    expect(facts).toMatchObject({ gitEntries: [], bareRepositories: [], stuck: [], unreadable: [] });
    expect(facts.weight.isFloor).toBe(false);
  });

  test("leaves a directory out by its identity, and the two parts add up to the whole", async () => {
    const { tree, nested } = makeHardTree(await temporary());
    write(join(nested, ".git"), "gitdir: elsewhere\n");
    const reader = await create();
    const outer = await reader.read(tree, { without: [identity(nested)] });
    const inner = await reader.read(nested);
    expect(outer.weight.bytes).toBe(oracle(tree, [nested]));
    expect(inner.weight.bytes).toBe(oracle(nested));
    expect(outer.gitEntries).toEqual([]);
    expect((await reader.weigh(tree, { without: [identity(nested)] })).bytes).toBe(outer.weight.bytes);

    const whole = new Weight();
    whole.add(outer.weight);
    whole.add(inner.weight);
    expect(whole.bytes).toBe(oracle(tree));
    expect(whole.bytes).toBeGreaterThanOrEqual(outer.weight.bytes + inner.weight.bytes + 60_000);
  });

  test("leaves many directories out at once", async () => {
    const root = await temporary();
    const parts = Array.from({ length: 60 }, (_unused, i) =>
      dirname(write(join(root, "places", String(i), "file"), 5000)),
    );
    const facts = await (await create()).read(root, { without: parts.map(identity) });
    expect(facts.weight.bytes).toBe(oracle(root, parts));
  });

  test("leaves nothing out for an identity that lies elsewhere", async () => {
    const root = await temporary();
    write(join(root, "tree/file"), 5000);
    const facts = await (
      await create()
    ).read(join(root, "tree"), {
      without: [
        { ...identity(join(root, "tree/file")), device: 999_999 },
        { device: 1, inode: 2 ** 60 },
      ],
    });
    expect(facts.weight.bytes).toBe(oracle(join(root, "tree")));
  });

  test("names every .git below the tree but its own", async () => {
    const tree = await temporary();
    write(join(tree, ".git"), "gitdir: elsewhere\n");
    write(join(tree, "vendor/lib/.git"), "gitdir: ../../.git/modules/lib\n");
    mkdirSync(join(tree, "node_modules/x/.git/objects"), { recursive: true });
    symlinkSync("/nowhere", join(tree, "vendor/.git"));
    write(join(tree, "odd\nname/.git"));
    write(join(tree, ".gitignore"));
    const { gitEntries } = await (await create()).read(tree);
    expect(gitEntries).toEqual(["node_modules/x/.git", "odd\nname/.git", "vendor/.git", "vendor/lib/.git"]);
  });

  test("names bare repositories, and none that lie below a .git", async () => {
    const tree = await temporary();
    for (const place of ["mirror.git", "deep/in/here", ".git", "sub/.git", "sub/.git/modules/m"]) {
      write(join(tree, place, "HEAD"), "ref: refs/heads/main\n");
      mkdirSync(join(tree, place, "objects"));
      mkdirSync(join(tree, place, "refs"));
    }
    write(join(tree, "only-a-file/HEAD"));
    write(join(tree, "no-directories/HEAD"));
    write(join(tree, "no-directories/objects"));
    write(join(tree, "no-directories/refs"));
    const { bareRepositories } = await (await create()).read(tree);
    expect(bareRepositories).toEqual(["deep/in/here", "mirror.git"]);
  });

  test("names the tree itself when it is a bare repository, whatever is a link in it", async () => {
    const tree = await temporary();
    symlinkSync("refs/heads/main", join(tree, "HEAD"));
    symlinkSync("/elsewhere", join(tree, "objects"));
    mkdirSync(join(tree, "refs"));
    const { bareRepositories } = await (await create()).read(tree);
    expect(bareRepositories).toEqual([""]);
  });

  test("refuses what is no directory", async () => {
    const root = await temporary();
    write(join(root, "file"));
    mkdirSync(join(root, "directory"));
    symlinkSync("directory", join(root, "link"));
    const reader = await create();
    await expect(reader.read(join(root, "missing"))).rejects.toThrow("ENOENT");
    await expect(reader.read(join(root, "file"))).rejects.toThrow("is not a directory");
    await expect(reader.read(join(root, "link"))).rejects.toThrow("is not a directory");
    await expect(reader.read(join(root, "link/"))).rejects.toThrow("is not a directory");
  });

  test("bears that things vanish during the walk", async () => {
    const root = await temporary();
    const reader = await create();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 1500; i++) write(join(root, "going", String(i % 60), String(i)));
      const reading = reader.read(root);
      await rm(join(root, "going"), { recursive: true });
      const facts = await reading;
      expect(facts.unreadable).toEqual([]);
    }
  });

  test("says during the walk how much it has counted", async () => {
    const root = await temporary();
    for (let i = 0; i < 2500; i++) write(join(root, String(i % 10), String(i)));
    let counted = 0;
    const facts = await (await create()).read(root, { onBytes: (bytes) => (counted += bytes) });
    expect(counted).toBe(facts.weight.bytes);
  });

  test("ends with the signal's reason when it is aborted", async () => {
    const root = await temporary();
    for (let i = 0; i < 2500; i++) write(join(root, String(i % 10), String(i)));
    const controller = new AbortController();
    const reading = (await create()).read(root, {
      signal: controller.signal,
      onBytes: () => controller.abort(new Error("enough")),
    });
    await expect(reading).rejects.toThrow("enough");
    await expect((await create()).read(root, { signal: controller.signal })).rejects.toThrow("enough");
  });
});

test.each([
  ["cannot be loaded", "throw new Error('no');"],
  ["ends before it answers", "process.exit();"],
  ["fails at its work", "require('node:worker_threads').parentPort.on('message', () => { throw new Error('no'); });"],
])("gives no figure when the threads' program %s", async (_, program) => {
  const root = await temporary();
  const reader = createNodeTreeReader(pathToFileURL(write(join(root, "worker.cjs"), program)));
  for (let i = 0; i < 4; i++) await expect(reader.read(root)).rejects.toThrow("has ended");
});

interface Reported {
  readonly bytes: number;
  readonly isFloor: boolean;
  readonly facts: unknown;
}

/** Runs both readers in a process of its own, started by a command line: as another user, or among other mounts. */
async function readElsewhere(root: string, command: readonly string[], tree: string): Promise<[Reported, Reported]> {
  const script = join(root, "read.mjs");
  const contents = `
    import { createNodeTreeReader, createTreeReader } from "./tree-facts.ts";
    import { Programs } from "./programs.ts";
    const reports = [];
    for (const reader of [await createTreeReader(new Programs(process.env.PATH, "/nonexistent")), createNodeTreeReader()]) {
      const { weight, ...facts } = await reader.read(process.argv[2]);
      const alone = await reader.weigh(process.argv[2]);
      if (alone.bytes !== weight.bytes || alone.unreadable !== weight.unreadable) throw new Error("it weighs something else");
      reports.push({ bytes: weight.bytes, isFloor: weight.isFloor, facts });
    }
    console.log(JSON.stringify(reports));`;
  await bundle({ stdin: { contents, resolveDir: SYSTEM } }, script);
  copyFileSync(walkWorker, join(root, "walk-worker.js"));
  writeFileSync(join(root, "package.json"), '{ "type": "module" }');
  const [program = "", ...args] = [...command, process.execPath, script, tree];
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  return JSON.parse(stdout) as [Reported, Reported];
}

test.skipIf(!isLinux)(
  "names the directories that this user cannot empty, with their owner, and makes the figure a floor",
  async () => {
    const root = await temporary();
    chmodSync(root, 0o755);
    const tree = join(root, "tree");
    const closed = write(join(tree, "closed/file"), 100_000);
    write(join(tree, "unenterable/file"), 100_000);
    write(join(tree, "unwritable/file"), 5000);
    write(join(tree, "odd\nname/file"), 5000);
    mkdirSync(join(tree, "empty-unwritable"));
    mkdirSync(join(tree, "empty-unenterable"));
    write(join(tree, "sticky/theirs"), 5000);
    write(join(tree, "free/file"), 5000);
    const floor = oracle(tree) - oracle(join(tree, "closed/file")) - oracle(join(tree, "unenterable/file"));
    chmodSync(join(tree, "sticky"), 0o1777);
    chmodSync(join(tree, "free"), 0o777);
    chmodSync(join(tree, "unwritable"), 0o555);
    chmodSync(join(tree, "odd\nname"), 0o555);
    chmodSync(join(tree, "empty-unwritable"), 0o555);
    chmodSync(join(tree, "empty-unenterable"), 0o444);
    chmodSync(join(tree, "unenterable"), 0o444);
    chmodSync(dirname(closed), 0o000);
    chmodSync(tree, 0o777);
    onTestFinished(() => {
      for (const name of ["closed", "unenterable", "unwritable", "odd\nname"]) chmodSync(join(tree, name), 0o755);
    });
    const asNobody = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"];
    const [first, second] = await readElsewhere(root, asNobody, tree);

    const owner = userInfo().username;
    const stuck = ["closed", "odd\nname", ...(isRoot ? ["sticky"] : []), "unenterable", "unwritable"];
    expect(first).toEqual({
      bytes: floor,
      isFloor: true,
      facts: {
        gitEntries: [],
        bareRepositories: [],
        stuck: stuck.map((path) => ({ path, owner })),
        unreadable: ["closed", "unenterable"],
      },
    });
    expect(second).toEqual(first);
  },
);

test.skipIf(!isLinux)("calls the tree itself stuck and unreadable when it cannot be opened", async () => {
  const root = await temporary();
  chmodSync(root, 0o755);
  const tree = join(root, "tree");
  write(join(tree, "file"), 5000);
  // A user that has no name is called by its number.
  if (isRoot) chownSync(tree, 54_321, 54_321);
  chmodSync(tree, 0o000);
  onTestFinished(() => chmodSync(tree, 0o755));
  const asNobody = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"];
  const [first, second] = await readElsewhere(root, asNobody, tree);
  expect(first.facts).toEqual({
    gitEntries: [],
    bareRepositories: [],
    stuck: [{ path: "", owner: isRoot ? "54321" : userInfo().username }],
    unreadable: [""],
  });
  expect(second).toEqual(first);
});

const mayMount = isLinux && isRoot && spawnSync("unshare", ["-m", "true"]).status === 0;

test.skipIf(!mayMount)("enters no other file system that is mounted in the tree", async () => {
  const root = await temporary();
  const tree = join(root, "tree");
  write(join(tree, "file"), 5000);
  mkdirSync(join(tree, "mounted"));
  const expected = oracle(tree) - oracle(join(tree, "mounted"));
  const mount = 'mount -t tmpfs none "$1" && head -c 100000 /dev/zero > "$1/inside" && shift && exec "$@"';
  const [first, second] = await readElsewhere(
    root,
    ["unshare", "-m", "sh", "-c", mount, "sh", join(tree, "mounted")],
    tree,
  );
  expect(first.bytes).toBe(expected);
  expect(second).toEqual(first);
});

/** Programs that find, under the name of GNU find, a script that prints what it is given. */
async function programsWithFind(output: string, complaint = "", exitCode = 0): Promise<Programs> {
  const path = await temporary();
  writeFileSync(
    join(path, "find"),
    `#!/bin/sh
case "$1" in --version) echo 'find (GNU findutils) 4.9.0'; exit;; esac
printf '${output}'
printf '${complaint}' >&2
exit ${exitCode}
`,
    { mode: 0o755 },
  );
  return new Programs(path, "/nonexistent");
}

test("tells inode numbers apart that no double can hold", async () => {
  const tree = await temporary();
  const { dev } = lstatSync(tree);
  const records = `d8 ${dev}\\nl16 2 9007199254740993 ${dev}\\nl16 2 9007199254740992 ${dev}\\nl2 2 18446744073709551615 ${dev}\\nl2 2 18446744073709551615 ${dev}\\n`;
  const reader = await createTreeReader(await programsWithFind(records));
  const { weight } = await reader.read(tree);
  expect(weight.bytes).toBe(512 * 10);
  const other = new Weight();
  other.countLink(dev, "9007199254740993", 2, 512 * 16);
  other.add(weight);
  expect(other.bytes).toBe(512 * 26);
});

test("keeps files apart that have one inode number on two devices", () => {
  const weight = new Weight();
  weight.countLink(1, 42, 2, 512);
  weight.countLink(2, 42, 2, 512);
  expect(weight.bytes).toBe(0);
  weight.countLink(2, 42, 2, 512);
  expect(weight.bytes).toBe(512);
});

test("takes any complaint of find's but that of a thing that vanished for no answer", async () => {
  const tree = await temporary();
  const record = `d8 ${lstatSync(tree).dev}\\n`;
  const read = async (...args: Parameters<typeof programsWithFind>) =>
    (await createTreeReader(await programsWithFind(...args))).read(tree);
  await expect(read(record, "find: x: No such file or directory\\n", 1)).resolves.toBeDefined();
  await expect(read(record, "find: x: Input/output error\\n", 1)).rejects.toThrow("find: x: Input/output error");
  await expect(read(record, "", 3)).rejects.toThrow("exit code 3");
  await expect(read(`${record}8`)).rejects.toThrow("stopped in the middle");
  await expect(read(`${record}x`)).rejects.toThrow("stopped in the middle");
  await expect(read(`${record}x\\000`)).rejects.toThrow("not understood");
  await expect(read(`${record}d8\\n`)).rejects.toThrow("not understood");
  await expect(read("8\\n")).rejects.toThrow("was replaced while it was read");
});

test("walks by itself where find is not GNU's", async () => {
  const path = await temporary();
  writeFileSync(join(path, "find"), "#!/bin/sh\necho 'find: illegal option -- -' >&2\nexit 1\n", { mode: 0o755 });
  const tree = await temporary();
  write(join(tree, "file"), 5000);
  for (const found of [path, "/nonexistent"]) {
    const facts = await (await createTreeReader(new Programs(found, "/none"))).read(tree);
    expect(facts.weight.bytes).toBe(oracle(tree));
  }
});

test("adds up as many linked files as a package store has", () => {
  const [one, two] = [new Weight(), new Weight()];
  for (let inode = 1; inode <= 50_000; inode++) {
    one.countLink(1, inode * 4096, 2, 512);
    if (inode % 2 === 0) two.countLink(1, inode * 4096, 2, 512);
  }
  one.settle();
  one.add(two);
  expect(one.bytes).toBe(25_000 * 512);
  one.settle();
  expect(one.bytes).toBe(25_000 * 512);
  expect(two.bytes).toBe(0);
});

/**
 * What can be made again (SPEC §2, "regenerable"): the table, and nothing else. A row says which directory or file it speaks of, what must be
 * found inside, and which recipe must be tracked beside it; a name alone is never enough. To add a recipe, add a row: read there what the
 * tool itself writes, and leave the row out when a person could have put work where it points.
 *
 * Patterns are matched per path component: `*` is any run of characters, `?` is one, `[0-9]` is one of a class.
 */
export type Recipe = DirectoryRecipe | FileRecipe;

/** A directory whose content can be made again: all of it, or the entries it names and no others. */
export interface DirectoryRecipe {
  readonly name: string;
  /** The end of the directory's path, one pattern per component. */
  readonly directory: string;
  /** All must be found in it; of a nested list, any one. */
  readonly inside: readonly (Marker | readonly Marker[])[];
  /** All must be tracked. */
  readonly tracked?: readonly Manifests[];
  /**
   * The only entries of it that can be made again, marked as `ls -F` does: `lib/` is a directory, `lib@` a link, `lib` a regular file.
   * Whatever else lies in it is held. Without this, everything in it can.
   */
  readonly entries?: readonly string[];
  /** Where the tool says so. */
  readonly source: string;
}

/** A file that can be made again, told by its first bytes. */
export interface FileRecipe {
  readonly name: string;
  /** The end of the file's path, one pattern per component; a leading `/` stands for the worktree's root. */
  readonly file: string;
  /** Any one of these. */
  readonly content: readonly Content[];
  readonly tracked?: readonly Manifests[];
  readonly source: string;
}

/** Something that a tool leaves in a directory it makes. No link is followed on the way to it. */
export type Marker =
  | (Content & { readonly file: string })
  | { readonly directory: string }
  | { readonly link: string }
  | { readonly builtFrom: Sources };

/** What a file begins with; all that is given must hold, within its first `EXAMINED_BYTES`. Bytes are written as latin1. */
export interface Content {
  readonly empty?: true;
  readonly startsWith?: string;
  /** Where `startsWith` begins; 0 when not given. */
  readonly at?: number;
  readonly contains?: RegExp;
}

/** Every file below the directory ends in one of `outputs`, and its source is there, at the same place below one of `roots`. */
export interface Sources {
  readonly outputs: readonly string[];
  readonly sources: readonly string[];
  /** Relative to the directory that holds the manifest. */
  readonly roots: readonly string[];
}

/** Tracked files that say how the directory is made. */
export interface Manifests {
  /** Any one of these names, in the directory that holds the match. */
  readonly anyOf: readonly string[];
  /** Also in any directory above, up to the worktree's root. */
  readonly orAbove?: true;
  /** The string value of this key in the manifest (JSON, comments allowed) must be the path of the directory that matched. */
  readonly key?: string;
}

/** How much of a file is read to tell it by its content. */
export const EXAMINED_BYTES = 4096;

const PACKAGE_JSON: Manifests = { anyOf: ["package.json"] };
const YARN_LOCK: Manifests = { anyOf: ["yarn.lock"] };
const JAVASCRIPT_LOCK: Manifests = {
  anyOf: ["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"],
  orAbove: true,
};
const PYTHON: Manifests = {
  anyOf: [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements*.txt",
    "Pipfile",
    "Pipfile.lock",
    "uv.lock",
    "poetry.lock",
  ],
  orAbove: true,
};
const PYTHON_PROJECT: Manifests = { anyOf: ["pyproject.toml", "setup.py", "setup.cfg"], orAbove: true };
const PIXI: Manifests = { anyOf: ["pixi.toml", "pyproject.toml", "mojoproject.toml"] };
const CONDA: Manifests = {
  anyOf: ["environment*.yml", "environment*.yaml", "conda-lock.yml", "anaconda-project.yml"],
  orAbove: true,
};
const GRADLE: Manifests = { anyOf: ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"] };
const TSCONFIG: Manifests = { anyOf: ["tsconfig*.json"], orAbove: true, key: "outDir" };

const INSTALLED_PACKAGE: readonly Marker[] = [
  { file: "*/package.json" },
  { file: "@*/*/package.json" },
  { link: "*" },
  { link: "@*/*" },
];
const PYVENV: Marker = { file: "pyvenv.cfg", contains: /^home\s*=/m };
const CONDA_PREFIX: Marker = { file: "conda-meta/history" };

export const RECIPES: readonly Recipe[] = [
  {
    name: "directory with a cache tag",
    directory: "*",
    inside: [{ file: "CACHEDIR.TAG", startsWith: "Signature: 8a477f597d28d172789f06886806bc55" }],
    source: "https://bford.info/cachedir/",
  },

  {
    name: "node_modules of npm",
    directory: "node_modules",
    inside: [{ file: ".package-lock.json", contains: /"lockfileVersion"/ }],
    tracked: [PACKAGE_JSON],
    source: "https://docs.npmjs.com/cli/configuring-npm/package-lock-json#hidden-lockfiles",
  },
  {
    name: "node_modules of yarn classic",
    directory: "node_modules",
    inside: [{ file: ".yarn-integrity", contains: /"systemParams"/ }],
    tracked: [PACKAGE_JSON],
    source: "https://classic.yarnpkg.com/en/docs/cli/check",
  },
  {
    name: "node_modules of yarn",
    directory: "node_modules",
    inside: [{ file: ".yarn-state.yml", contains: /^__metadata:/m }],
    tracked: [PACKAGE_JSON],
    source: "https://yarnpkg.com/features/linkers#nodelinker-node-modules",
  },
  {
    name: "node_modules of pnpm",
    directory: "node_modules",
    inside: [
      [
        { file: ".modules.yaml", contains: /\b(layoutVersion|hoistPattern|hoistedDependencies)\b/ },
        { file: ".pnpm/lock.yaml", contains: /^lockfileVersion:/m },
      ],
    ],
    tracked: [PACKAGE_JSON],
    source: "https://www.npmjs.com/package/@pnpm/modules-yaml",
  },
  {
    name: "node_modules of bun's isolated linker",
    directory: "node_modules",
    inside: [{ directory: ".bun/node_modules" }],
    tracked: [PACKAGE_JSON],
    source: "https://bun.sh/docs/install/isolated",
  },
  // Bun's hoisted linker leaves no marker, and no package manager leaves one in a workspace's own node_modules: there it is told by
  // the packages themselves, and by the lock file that names them. What is no package, and nothing that a manager puts beside them, is held.
  {
    name: "package in node_modules",
    directory: "node_modules/*",
    inside: [{ file: "package.json" }],
    tracked: [PACKAGE_JSON, JAVASCRIPT_LOCK],
    source: "https://bun.sh/docs/install/workspaces",
  },
  {
    name: "scoped package in node_modules",
    directory: "node_modules/@*/*",
    inside: [{ file: "package.json" }],
    tracked: [PACKAGE_JSON, JAVASCRIPT_LOCK],
    source: "https://docs.npmjs.com/cli/using-npm/scope",
  },
  {
    name: "links and shims beside packages in node_modules",
    directory: "node_modules",
    inside: [INSTALLED_PACKAGE],
    entries: ["*@", ".bin/", ".store/", ".cache/", ".package-map.json"],
    tracked: [PACKAGE_JSON, JAVASCRIPT_LOCK],
    source: "https://pnpm.io/symlinked-node-modules-structure",
  },
  {
    name: "links of a scope in node_modules",
    directory: "node_modules/@*",
    inside: [],
    entries: ["*@"],
    tracked: [PACKAGE_JSON, JAVASCRIPT_LOCK],
    source: "https://pnpm.io/symlinked-node-modules-structure",
  },
  {
    name: "yarn's cache of packages",
    directory: ".yarn/cache",
    inside: [],
    entries: ["*-??????????*.zip", ".gitignore"],
    tracked: [PACKAGE_JSON, YARN_LOCK],
    source: "https://yarnpkg.com/getting-started/qa#which-files-should-be-gitignored",
  },
  {
    name: "yarn's unplugged package",
    directory: ".yarn/unplugged/*",
    inside: [[{ file: "node_modules/*/package.json" }, { file: "node_modules/@*/*/package.json" }]],
    tracked: [PACKAGE_JSON, YARN_LOCK],
    source: "https://yarnpkg.com/getting-started/qa#which-files-should-be-gitignored",
  },
  {
    name: "yarn's install state",
    file: ".yarn/install-state.gz",
    content: [{ startsWith: "\x1f\x8b" }],
    tracked: [PACKAGE_JSON, YARN_LOCK],
    source: "https://yarnpkg.com/getting-started/qa#which-files-should-be-gitignored",
  },
  {
    name: "yarn's Plug'n'Play loader",
    file: ".pnp.*js",
    content: [
      { contains: /This file is automatically generated\. Do not touch it/ },
      { startsWith: "/* eslint-disable */\n// @ts-nocheck\n\nimport fs from 'fs';" },
    ],
    tracked: [PACKAGE_JSON, YARN_LOCK],
    source: "https://yarnpkg.com/features/pnp",
  },

  {
    name: "pixi environment",
    directory: ".pixi/envs/*",
    inside: [CONDA_PREFIX],
    tracked: [PIXI],
    source: "https://pixi.sh/latest/workspace/environment/",
  },
  {
    name: "pixi environment of a solve group",
    directory: ".pixi/solve-group-envs/*",
    inside: [CONDA_PREFIX],
    tracked: [PIXI],
    source: "https://pixi.sh/latest/workspace/environment/",
  },
  {
    name: "pixi's cache of tasks",
    directory: ".pixi/task-cache-v0",
    inside: [],
    entries: ["*.json"],
    tracked: [PIXI],
    source: "https://github.com/prefix-dev/pixi/blob/main/crates/pixi_consts/src/consts.rs",
  },
  {
    name: "pixi's cache of activations",
    directory: ".pixi/activation-env-v0",
    inside: [],
    entries: ["activation_*.json"],
    tracked: [PIXI],
    source: "https://github.com/prefix-dev/pixi/blob/main/crates/pixi_consts/src/consts.rs",
  },
  {
    name: "pixi's own ignore file",
    file: ".pixi/.gitignore",
    content: [{ contains: /^\*\s*(!config\.toml\s*)?$/ }],
    tracked: [PIXI],
    source: "https://github.com/prefix-dev/pixi/issues/1904",
  },
  {
    name: "pixi's own package ignore file",
    file: ".pixi/.condapackageignore",
    content: [{ contains: /^\.pixi\s*(!\.pixi\/config\.toml\s*)?$/ }],
    tracked: [PIXI],
    source: "https://rattler.build/latest/build_options/",
  },
  ...["env", ".env", "envs/*", ".envs/*", "*conda*"].map((directory) => ({
    name: "conda environment",
    directory,
    inside: [CONDA_PREFIX],
    tracked: [CONDA],
    source: "https://docs.conda.io/projects/conda/en/stable/user-guide/tasks/manage-environments.html",
  })),

  ...["*venv*", "env", ".env", "virtualenv"].map((directory) => ({
    name: "virtual environment",
    directory,
    inside: [PYVENV],
    tracked: [PYTHON],
    source: "https://docs.python.org/3/library/venv.html",
  })),
  {
    // A person's own directory may have been made a virtual environment: there, what venv makes goes and the rest is held.
    name: "virtual environment under any name",
    directory: "*",
    inside: [PYVENV, { file: "bin/activate" }],
    entries: ["bin/", "include/", "lib/", "lib64/", "lib64@", "pyvenv.cfg", ".gitignore", ".lock"],
    tracked: [PYTHON],
    source: "https://docs.python.org/3/library/venv.html",
  },
  {
    name: "environments of tox",
    directory: ".tox",
    inside: [{ file: "*/pyvenv.cfg", contains: /^home\s*=/m }],
    tracked: [{ anyOf: ["tox.ini", "tox.toml", "pyproject.toml", "setup.cfg"] }],
    source: "https://tox.wiki/en/latest/config.html#work_dir",
  },
  {
    name: "environments of nox",
    directory: ".nox",
    inside: [{ file: "*/pyvenv.cfg", contains: /^home\s*=/m }],
    tracked: [{ anyOf: ["noxfile.py"] }],
    source: "https://nox.thea.codes/en/stable/config.html",
  },
  {
    name: "byte code of Python",
    directory: "__pycache__",
    inside: [],
    entries: ["*.pyc", "*.pyo", "*.pyc.[0-9]*", "*.nbi", "*.nbc"],
    source: "https://peps.python.org/pep-3147/",
  },
  {
    name: "byte code of Python beside its source",
    file: "*.py[co]",
    content: [{ startsWith: "\r\n", at: 2 }, { empty: true }],
    source: "https://docs.python.org/3/library/importlib.html#importlib.util.MAGIC_NUMBER",
  },
  {
    name: "cache of pytest",
    directory: ".pytest_cache",
    inside: [{ file: "README.md", startsWith: "# pytest cache directory #" }],
    source: "https://docs.pytest.org/en/stable/how-to/cache.html",
  },
  {
    name: "cache of mypy",
    directory: ".mypy_cache",
    inside: [{ file: ".gitignore", contains: /Automatically created by mypy/ }],
    source: "https://mypy.readthedocs.io/en/stable/command_line.html#incremental-mode",
  },
  {
    name: "cache of ruff",
    directory: ".ruff_cache",
    inside: [{ file: ".gitignore", contains: /Automatically created by ruff/ }],
    source: "https://docs.astral.sh/ruff/settings/#cache-dir",
  },
  {
    name: "database of Hypothesis",
    directory: ".hypothesis",
    inside: [{ file: ".gitignore", contains: /automatically created by Hypothesis/ }],
    entries: [".gitignore", "constants/", "examples/", "unicode_data/", "tmp/"],
    source: "https://hypothesis.readthedocs.io/en/latest/reference/api.html",
  },
  {
    name: "data of coverage.py",
    file: ".coverage*",
    content: [{ startsWith: "SQLite format 3\0", contains: /coverage_schema/ }],
    source: "https://coverage.readthedocs.io/en/latest/dbschema.html",
  },
  {
    name: "report of coverage.py",
    directory: "htmlcov",
    inside: [{ file: ".gitignore", contains: /Created by coverage\.py/ }],
    source: "https://coverage.readthedocs.io/en/latest/commands/cmd_html.html",
  },
  {
    name: "metadata of a Python package",
    directory: "*.egg-info",
    inside: [{ file: "PKG-INFO", contains: /^Metadata-Version:/m }, { file: "SOURCES.txt" }],
    tracked: [PYTHON_PROJECT],
    source: "https://setuptools.pypa.io/en/latest/deprecated/python_eggs.html",
  },
  {
    name: "build of setuptools",
    directory: "build",
    inside: [{ directory: "bdist.*" }],
    entries: ["bdist.*/", "lib/", "lib.*/", "temp.*/", "scripts-*/"],
    tracked: [{ anyOf: ["pyproject.toml", "setup.py", "setup.cfg"] }],
    source: "https://setuptools.pypa.io/en/latest/userguide/extension.html",
  },

  {
    name: "target of cargo",
    directory: "target",
    inside: [{ file: ".rustc_info.json", contains: /"rustc_fingerprint"/ }],
    tracked: [{ anyOf: ["Cargo.toml"] }],
    source: "https://doc.rust-lang.org/cargo/reference/build-cache.html",
  },
  {
    name: "target of Maven",
    directory: "target",
    inside: [[{ directory: "maven-status" }, { file: "maven-archiver/pom.properties", contains: /^artifactId=/m }]],
    entries: [
      "classes/",
      "test-classes/",
      "generated-sources/",
      "generated-test-sources/",
      "maven-status/",
      "maven-archiver/",
      "surefire-reports/",
      "failsafe-reports/",
      "*.jar",
      "*.war",
      "*.jar.original",
    ],
    tracked: [{ anyOf: ["pom.xml"] }],
    source: "https://maven.apache.org/guides/introduction/introduction-to-the-standard-directory-layout.html",
  },
  {
    name: "project cache of Gradle",
    directory: ".gradle",
    inside: [
      [
        { file: "buildOutputCleanup/cache.properties", contains: /^gradle\.version=/m },
        { file: "*/fileHashes/fileHashes.lock" },
        { file: "file-system.probe" },
        { file: "vcs-1/gc.properties" },
      ],
    ],
    // Where it is Gradle's user home too, a person's gradle.properties and init scripts lie here: they are held.
    entries: [
      "[0-9]*.[0-9]*/",
      "buildOutputCleanup/",
      "configuration-cache/",
      "dependencies-accessors/",
      "kotlin/",
      "nb-cache/",
      "noVersion/",
      "vcs-1/",
      "file-system.probe",
    ],
    tracked: [GRADLE],
    source: "https://docs.gradle.org/current/userguide/directory_layout.html#dir:project_root",
  },
  {
    name: "build of Gradle",
    directory: "build",
    inside: [
      [
        { directory: "classes/java" },
        { directory: "classes/kotlin" },
        { directory: "classes/groovy" },
        { directory: "classes/scala" },
        { directory: "tmp/compileJava" },
        { directory: "tmp/compileKotlin" },
      ],
    ],
    entries: ["classes/", "generated/", "kotlin/", "libs/", "reports/", "resources/", "test-results/", "tmp/"],
    tracked: [GRADLE],
    source: "https://docs.gradle.org/current/userguide/java_plugin.html",
  },
  {
    name: "vendor of Composer",
    directory: "vendor",
    inside: [{ file: "autoload.php", contains: /@generated by Composer/ }, { file: "composer/installed.json" }],
    tracked: [{ anyOf: ["composer.json"] }],
    source: "https://getcomposer.org/doc/01-basic-usage.md#commit-your-composer-lock-file-to-version-control",
  },

  {
    name: "output of tsc",
    directory: "*",
    inside: [
      {
        builtFrom: {
          outputs: [".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".d.mts", ".d.cts"].flatMap((end) => [end, `${end}.map`]),
          sources: [".ts", ".tsx", ".mts", ".cts"],
          roots: ["src", "lib", "source", "."],
        },
      },
    ],
    tracked: [TSCONFIG],
    source: "https://www.typescriptlang.org/tsconfig/#outDir",
  },
  {
    name: "build of Next.js",
    directory: ".next",
    inside: [
      [
        { file: "BUILD_ID" },
        { file: "build-manifest.json", contains: /"polyfillFiles"/ },
        { file: "dev/build-manifest.json", contains: /"polyfillFiles"/ },
        { file: "package.json", contains: /^\{"type": ?"commonjs"\}\s*$/ },
      ],
    ],
    tracked: [PACKAGE_JSON],
    source: "https://nextjs.org/docs/app/api-reference/config/next-config-js/distDir",
  },
  {
    name: "types of Next.js",
    file: "next-env.d.ts",
    content: [{ startsWith: '/// <reference types="next" />', contains: /This file should not be edited/ }],
    tracked: [PACKAGE_JSON],
    source: "https://nextjs.org/docs/app/api-reference/config/typescript#next-envdts",
  },
  {
    name: "build of Nuxt",
    directory: ".nuxt",
    inside: [
      [
        { file: "tsconfig.json", contains: /Generated by nuxi/ },
        { file: "nuxt.d.ts", contains: /Generated by nuxi/ },
      ],
    ],
    tracked: [PACKAGE_JSON],
    source: "https://nuxt.com/docs/guide/directory-structure/nuxt",
  },
  {
    name: "build of SvelteKit",
    directory: ".svelte-kit",
    inside: [{ file: "ambient.d.ts", contains: /this file is generated/ }],
    tracked: [PACKAGE_JSON],
    source: "https://svelte.dev/docs/kit/project-structure#Other-files-.svelte-kit",
  },
  {
    name: "cache of turbo",
    directory: ".turbo/cache",
    inside: [{ file: "*-meta.json" }],
    tracked: [{ anyOf: ["turbo.json", "turbo.jsonc"], orAbove: true }],
    source: "https://turborepo.com/docs/crafting-your-repository/caching",
  },
  {
    // Not config.json, which a person may have written.
    name: "logs and state of turbo",
    directory: ".turbo",
    inside: [],
    entries: ["turbo-*.log", "cookies/", "daemon/", "preferences/", "runs/"],
    tracked: [{ anyOf: ["turbo.json", "turbo.jsonc"], orAbove: true }],
    source: "https://turborepo.com/docs/crafting-your-repository/caching#task-outputs",
  },
  {
    name: "cache of Parcel",
    directory: ".parcel-cache",
    // An LMDB data file, as LMDB itself writes it and as its JavaScript build does.
    inside: [
      [
        { file: "data.mdb", startsWith: "\xde\xc0\xef\xbe", at: 16 },
        { file: "data.mdb", startsWith: "\xde\xc0\xef\xbe", at: 24 },
      ],
    ],
    tracked: [PACKAGE_JSON],
    source: "https://parceljs.org/features/development/#caching",
  },
  ...["node_modules/.vite", ".vite"].map((directory) => ({
    name: "cache of Vite",
    directory,
    inside: [
      [
        { file: "deps/_metadata.json", contains: /"browserHash"/ },
        { file: "vitest/results.json", contains: /"results"/ },
        { file: "vitest/*/results.json", contains: /"results"/ },
      ],
    ],
    tracked: [PACKAGE_JSON],
    source: "https://vite.dev/config/shared-options.html#cachedir",
  })),
  {
    name: "cache of Angular",
    directory: ".angular/cache",
    inside: [],
    entries: ["[0-9]*.[0-9]*.[0-9]*/"],
    tracked: [{ anyOf: ["angular.json"] }],
    source: "https://angular.dev/cli/cache",
  },
  {
    name: "hooks that husky makes",
    directory: ".husky/_",
    inside: [
      { file: ".gitignore", startsWith: "*" },
      { file: "h", contains: /husky/ },
    ],
    tracked: [PACKAGE_JSON],
    source: "https://typicode.github.io/husky/",
  },
  {
    name: "cache of ESLint",
    file: ".eslintcache",
    content: [{ contains: /^\[(\{"[^"]+":"\d+"|\{\}\])/ }],
    source: "https://eslint.org/docs/latest/use/command-line-interface#--cache",
  },
  {
    name: "build information of tsc",
    file: "*.tsbuildinfo",
    content: [
      { contains: /^\{\s*"(fileNames|root|program|bundle)":/ },
      { contains: /^\{\s*"version":\s*"[^"]+",\s*"(root|fileNames|packageJsons|errors)":/ },
    ],
    source: "https://www.typescriptlang.org/tsconfig/#tsBuildInfoFile",
  },

  {
    name: "what macOS's Finder leaves",
    file: ".DS_Store",
    content: [{ startsWith: "\x00\x00\x00\x01Bud1" }, { empty: true }],
    source: "https://en.wikipedia.org/wiki/.DS_Store",
  },
  {
    name: "what Windows Explorer leaves",
    file: "Thumbs.db",
    content: [{ startsWith: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" }],
    source: "https://en.wikipedia.org/wiki/Windows_thumbnail_cache",
  },

  {
    name: "Claude Code's own settings of a worktree",
    file: "/.claude/settings.local.json",
    content: [{ contains: /^\s*\{\s*["}]/ }],
    source: "https://docs.claude.com/en/docs/claude-code/settings",
  },
];

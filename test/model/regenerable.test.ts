import { expect, test } from "vitest";
import { RECIPES, type Recipe } from "../../src/model/regenerable.ts";

/** How many things a row asks for besides a name. */
function askedFor(recipe: Recipe): number {
  return "file" in recipe ? recipe.content.length : recipe.inside.length + (recipe.entries ?? []).length;
}

test.each(RECIPES)("$name: says where the tool says so", ({ source }) => {
  expect(source).toMatch(/^https:\/\//);
});

test.each(RECIPES)("$name: never goes by a name alone", (recipe) => {
  expect(askedFor(recipe)).toBeGreaterThan(0);
});

test.each(RECIPES.filter((recipe) => "directory" in recipe && recipe.directory === "*"))(
  "$name: asks, where any name will do, for something inside",
  (recipe) => {
    expect("inside" in recipe && recipe.inside.length).toBeGreaterThan(0);
  },
);

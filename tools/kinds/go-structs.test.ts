import { expect, it } from "vitest";
import { structsIn } from "./go-structs.ts";

const SOURCE = `
package v1

// Ship floats.
type Ship struct {
	metav1.TypeMeta \`json:",inline"\`
	// +optional
	metav1.ObjectMeta \`json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"\`

	// How it is called.
	Name string \`json:"name" protobuf:"bytes,2,opt,name=name"\`
	Flag *string \`json:"flag,omitempty" protobuf:"bytes,3,opt,name=flag"\`
	Crew []Sailor \`json:"crew,omitempty" protobuf:"bytes,4,rep,name=crew"\`
	Built Time \`json:"built,omitempty,omitzero" protobuf:"bytes,5,opt,name=built"\`
	// Sunk bool \`json:"sunk"\`
	hidden int
	Secret string \`json:"-"\`
	Cargo \`json:",inline" protobuf:"bytes,6,opt,name=cargo"\`
}

type Cargo struct {
	Tons map[string]int \`json:"x-tons"\`
}

type Empty struct{}

type Name string
`;

it("fields are known by their names in JSON, with what Go does when they are empty", () => {
  const structs = structsIn(SOURCE);
  const field = (pointer: boolean, omitEmpty: boolean, omitZero = false) => ({ pointer, omitEmpty, omitZero });
  expect([...structs.keys()]).toEqual(["Ship", "Cargo", "Empty"]);
  expect(Object.fromEntries(structs.get("Ship") ?? [])).toEqual({
    apiVersion: field(false, true),
    kind: field(false, true),
    metadata: field(false, true),
    name: field(false, false),
    flag: field(true, true),
    crew: field(false, true),
    built: field(false, true, true),
    "x-tons": field(false, false),
  });
  expect(structs.get("Empty")?.size).toBe(0);
});

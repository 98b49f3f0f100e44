# Writes a .cc that holds the pipeline files as string literals: cmake -DOUTPUT=x.cc -DFILES="a.yaml;b.yaml" -P embed.cmake
set(rows "")
foreach(path ${FILES})
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" text)
  string(APPEND rows "    {\"${name}\", R\"ncc_yaml(${text})ncc_yaml\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"pipelines/pipelines.h\"

namespace ncc::pipelines {

const std::vector<File>& built_in_files() {
  static const std::vector<File> files = {
${rows}  };
  return files;
}

}  // namespace ncc::pipelines
")

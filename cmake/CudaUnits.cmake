# Most CUDA sources are small, and nvcc reads the toolkit's headers four times for each, which takes longer than the rest.
# So small files that are used together are compiled together: a unit is a source that includes them. Static names in a
# unit must differ. The driver loads the kernels of a source when the first of them runs, and large files keep several
# compilers busy: such files are not in units. A file that is not named here is compiled alone.

# texsolve_cuda_unit(NAME FILE... [OPTIONS option...]): cuda_sources with one source in place of the files.
function(texsolve_cuda_unit name)
  cmake_parse_arguments(PARSE_ARGV 1 unit "" "" OPTIONS)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/cuda_units/cuda_${name}_unit.cu)
  set(text "/* Written by cmake/CudaUnits.cmake. */\n")
  foreach(file IN LISTS unit_UNPARSED_ARGUMENTS)
    list(REMOVE_ITEM cuda_sources ${PROJECT_SOURCE_DIR}/src/cuda/${file}.cu)
    string(APPEND text "#include \"cuda/${file}.cu\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${unit_OPTIONS}")
  set(cuda_sources ${cuda_sources} ${source} PARENT_SCOPE)
endfunction()

texsolve_cuda_unit(core core/cuda_arrays core/cuda_launch core/cuda_mirror core/cuda_part core/cuda_reduce
  core/cuda_scalars core/cuda_vector)
texsolve_cuda_unit(given matrix/cuda_diagonal matrix/cuda_given matrix/cuda_given_inspect matrix/cuda_given_plan
  matrix/cuda_given_sort)
texsolve_cuda_unit(krylov krylov/cuda_cg_stencil krylov/cuda_cg_update krylov/cuda_fused krylov/cuda_part_cg)
texsolve_cuda_unit(grid grid/cuda_level grid/cuda_level_coarsen grid/cuda_level_smooth grid/cuda_level_steps
  grid/cuda_level_tiles grid/cuda_level_transfer grid/cuda_level_uniform grid/cuda_level_weights grid/cuda_stencil)
texsolve_cuda_unit(fluid fluid/cuda_fluid fluid/cuda_fluid_cells fluid/cuda_fluid_stamp fluid/cuda_fluid_transport)

# A hierarchy of algebraic multigrid has the same bits on every machine: no products are fused with sums.
set(amg_options --fmad=false)
texsolve_cuda_unit(amg precond/cuda_amg_aggregate precond/cuda_amg_coarsest precond/cuda_amg_eigenvalue precond/cuda_amg_long
  precond/cuda_amg_memory precond/cuda_amg_sort precond/cuda_amg_source precond/cuda_amg_strength
  precond/cuda_amg_tentative precond/cuda_amg_transpose precond/cuda_amg_twice precond/cuda_amg_units OPTIONS ${amg_options})
texsolve_cuda_unit(amg_product precond/cuda_amg_galerkin precond/cuda_amg_smooth OPTIONS ${amg_options})
file(GLOB cuda_amg_sources CONFIGURE_DEPENDS src/cuda/precond/cuda_amg*.cu)
set_source_files_properties(${cuda_amg_sources} PROPERTIES COMPILE_OPTIONS "${amg_options}")

# A contact's law is a chain of divisions and roots, and what a sweep waits for: they may miss the last bit.
set(law_options --prec-div=false --prec-sqrt=false)
texsolve_cuda_unit(lcp lcp/cuda_lcp lcp/cuda_lcp_momentum lcp/cuda_lcp_product lcp/cuda_lcp_small lcp/cuda_lcp_sparse
  lcp/cuda_lcp_steps OPTIONS ${law_options})
file(GLOB cuda_law_sources CONFIGURE_DEPENDS src/cuda/lcp/cuda_lcp_*.cu)
set_source_files_properties(${cuda_law_sources} PROPERTIES COMPILE_OPTIONS "${law_options}")
set_source_files_properties(src/cuda/lcp/cuda_lcp_exact.cu PROPERTIES COMPILE_OPTIONS --fmad=false)

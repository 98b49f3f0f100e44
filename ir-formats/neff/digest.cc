#include "ir-formats/neff/digest.h"

#include <openssl/evp.h>

#include "common/diag/status.h"

namespace ncc::neff {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Digest::Digest(Kind kind) : state_(std::make_unique<State>()) {
  NCC_CHECK(EVP_DigestInit_ex(state_->context, kind == Kind::Md5 ? EVP_md5() : EVP_sha256(), nullptr) == 1,
            "libcrypto has no digest");
}
Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) {
  NCC_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1, "digest failed");
}

std::array<uint8_t, 32> Digest::finish() {
  std::array<uint8_t, 32> digest{};
  unsigned int size = 0;
  NCC_CHECK(EVP_DigestFinal_ex(state_->context, digest.data(), &size) == 1, "digest failed");
  return digest;
}

}  // namespace ncc::neff
